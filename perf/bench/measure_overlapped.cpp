// Non-blocking calls beside a computation.
#include "perf/bench/measurements.hpp"

namespace perf {
namespace {

using samples = std::vector<double>;

samples room_for(int count) {
  return samples(static_cast<std::size_t>(count));
}

template <class F> double timed(F&& body) {
  const double start = now_us();
  body();
  return now_us() - start;
}

// The non-blocking form with nothing between post and wait: the median of the slowest rank.
double communication_alone(session& shared, trial& one) {
  const auto iteration = [&] {
    one.write();
    shared.ranks().align();
    const double elapsed = timed([&] {
      one.post();
      one.wait();
    });
    one.read();
    return elapsed;
  };
  const int count = shared.agree_on_iterations(iteration);
  one.verify();
  samples times = room_for(count);
  for (double& time : times)
    time = iteration();
  shared.ranks().maximum(times);
  return median(times);
}

double ratio_of_medians(const samples& with, const samples& alone) {
  return median(with) / median(alone);
}
double ratio_of_sums(const samples& with, const samples& alone) {
  return sum(with) / sum(alone);
}

} // namespace

record measure_overlap(session& shared, operation op, std::size_t bytes) {
  trial one(shared, op, bytes);
  computation& work = shared.work();
  const double pure = communication_alone(shared, one);
  const std::uint64_t steps = work.steps_for(pure);

  double alone_time = 0;
  double beside_time = 0;
  const auto iteration = [&] {
    shared.ranks().align();
    alone_time = timed([&] { work.run(steps); });
    one.write();
    shared.ranks().align();
    const double elapsed = timed([&] {
      one.post();
      beside_time = timed([&] { work.run(steps); });
      one.wait();
    });
    one.read();
    return elapsed;
  };
  const int count = shared.agree_on_iterations(iteration);
  samples total = room_for(count), alone = room_for(count), beside = room_for(count);
  for (std::size_t i = 0; i < total.size(); ++i) {
    total[i] = iteration();
    alone[i] = alone_time;
    beside[i] = beside_time;
  }
  one.verify();
  for (samples* times : {&total, &alone, &beside})
    shared.ranks().maximum(*times);
  const double us = median(total);
  return {us,
          {{"pure_us", pure},
           {"compute_us", median(alone)},
           {"overlap", overlap_percent(us, median(alone), pure)},
           {"slowdown", ratio_of_medians(beside, alone)},
           {"slowdown_total", ratio_of_sums(beside, alone)},
           {"total_us", sum(total)},
           {"iterations", static_cast<double>(count)}}};
}

record measure_pipeline(session& shared, operation op, std::size_t bytes) {
  trial one(shared, op, bytes);
  computation& work = shared.work();
  const double pure = communication_alone(shared, one);
  const std::uint64_t steps = work.steps_for(pure);

  const auto in_sequence = [&] {
    one.write();
    one.blocking();
    one.read();
    work.run(steps);
  };
  int slot = 0;
  const auto pipelined = [&] {
    one.write(slot);
    one.post(slot);
    slot = 1 - slot; // the round before this one
    one.read(slot);
    work.run(steps);
    one.wait(1 - slot);
  };
  const auto time_of = [&](int count, auto&& body) {
    shared.ranks().align();
    return shared.ranks().maximum(timed([&] {
      for (int i = 0; i < count; ++i)
        body();
    }));
  };
  const int count = shared.agree_on_iterations(in_sequence);
  const double blocking = time_of(count, in_sequence);
  const double compute = time_of(count, [&] {
    one.touch();
    work.run(steps);
  });
  for (const int first : {0, 1}) { // fills both pairs, so that the first round finds one before it
    one.write(first);
    one.post(first);
    one.wait(first);
    one.verify(first);
  }
  const double total = time_of(count, pipelined);
  one.verify(1 - slot);
  return {total / count,
          {{"pure_us", pure},
           {"compute_us", compute / count},
           {"blocking_us", blocking / count},
           {"ideal_us", std::max(pure, compute / count)},
           {"total_us", total},
           {"iterations", static_cast<double>(count)}}};
}

record measure_independence(session& shared, operation op, std::size_t bytes) {
  trial one(shared, op, bytes);
  computation& work = shared.work();
  meeting& ranks = shared.ranks();
  const bool absent = shared.library().rank() == 0;
  const double together = communication_alone(shared, one);
  const std::uint64_t steps = work.steps_for(shared.settings().absence_us);
  const int count = shared.settings().independence_iterations;

  samples others = room_for(count), alone = room_for(count), beside = room_for(count),
          own_wait = room_for(count);
  for (std::size_t i = 0; i < others.size(); ++i) {
    ranks.rest();
    if (absent) alone[i] = timed([&] { work.run(steps); });
    ranks.rest(); // the others sleep while rank 0 computes alone, so they cannot disturb it on a shared core
    one.write();
    ranks.align();
    if (absent) {
      one.post();
      beside[i] = timed([&] { work.run(steps); });
      own_wait[i] = timed([&] { one.wait(); });
    } else {
      others[i] = timed([&] {
        one.post();
        one.wait();
      });
    }
    ranks.rest();
    one.read();
  }
  one.verify();
  for (samples* times : {&others, &alone, &beside, &own_wait})
    ranks.maximum(*times);
  const double us = median(others);
  return {us,
          {{"blocking_us", together},
           {"ratio", us / together},
           {"compute_us", median(alone)},
           {"slowdown", ratio_of_medians(beside, alone)},
           {"slowdown_total", ratio_of_sums(beside, alone)},
           {"absent_wait_us", median(own_wait)},
           {"total_us", sum(others)},
           {"iterations", static_cast<double>(count)}}};
}

} // namespace perf
