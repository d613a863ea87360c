// SPDX-License-Identifier: BSD-3-Clause
// Non-blocking calls beside a computation.
#include "perf/bench/measurements.hpp"
#include "perf/bench/pin.hpp"
#include "perf/bench/timing.hpp"

namespace perf {
namespace {

samples room_for(int count) {
  return samples(static_cast<std::size_t>(count));
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
  return median(slowest_of_each(shared, iteration, [&] { one.verify(); }));
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
  processor_meter processor(shared);
  const double pure = communication_alone(shared, one);
  const std::uint64_t steps = work.steps_for(pure);

  samples alone, beside;
  const auto iteration = [&] {
    shared.ranks().align();
    alone.push_back(timed([&] { work.run(steps); }));
    one.write();
    shared.ranks().align();
    const double elapsed = processor.during([&] {
      return timed([&] {
        one.post();
        beside.push_back(timed([&] { work.run(steps); }));
        one.wait();
      });
    });
    one.read();
    return elapsed;
  };
  const samples total = slowest_of_each(shared, iteration, [&] {
    alone.clear(); // what the calibration computed does not count
    beside.clear();
    processor.restart();
  });
  one.verify();
  shared.ranks().maximum(alone);
  shared.ranks().maximum(beside);
  const double us = median(total);
  const auto count = static_cast<double>(total.size());
  record result{us,
                {{"pure_us", pure},
                 {"compute_us", median(alone)},
                 {"overlap", overlap_percent(us, median(alone), pure)},
                 {"slowdown", ratio_of_medians(beside, alone)},
                 {"slowdown_total", ratio_of_sums(beside, alone)},
                 {"total_us", sum(total)},
                 {"iterations", count}}};
  processor.add_to(result, count);
  return result;
}

record measure_pipeline(session& shared, operation op, std::size_t bytes) {
  trial one(shared, op, bytes);
  computation& work = shared.work();
  processor_meter processor(shared);
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
  const int batch = shared.calibrate(in_sequence);
  processor_meter unread(shared);
  const run_times blocking = back_to_back(shared, unread, batch, in_sequence);
  const run_times computing = back_to_back(shared, unread, batch, [&] {
    one.touch();
    work.run(steps);
  });
  for (const int first : {0, 1}) { // fills both pairs, so that the first round finds one before it
    one.write(first);
    one.post(first);
    one.wait(first);
    one.verify(first);
  }
  const run_times rounds = back_to_back(shared, processor, batch, pipelined);
  one.verify(1 - slot);
  record result{rounds.mean,
                {{"median_us", rounds.median},
                 {"pure_us", pure},
                 {"compute_us", computing.median},
                 {"blocking_us", blocking.mean},
                 {"ideal_us", std::max(pure, computing.median)},
                 {"total_us", rounds.total},
                 {"iterations", rounds.iterations}}};
  processor.add_to(result, rounds.iterations);
  return result;
}

record measure_independence(session& shared, operation op, std::size_t bytes) {
  trial one(shared, op, bytes);
  computation& work = shared.work();
  meeting& ranks = shared.ranks();
  const int own_rank = shared.library().rank();
  const bool absent = own_rank == 0;
  const double together = communication_alone(shared, one);
  const std::uint64_t steps = work.steps_for(shared.settings().absence_us);
  const int count = shared.settings().independence_iterations;

  samples others = room_for(count), alone = room_for(count), beside = room_for(count),
          own_wait = room_for(count);
  // A rank on rank 0's core might else get the core after the computation only, and would itself be late.
  const auto let_all_post = [&] {
    if (shared.library().size() > usable_cores()) ranks.align();
  };
  processor_meter processor(shared);
  const auto spent = [&](auto&& body) { return processor.during([&] { return timed(body); }); };
  for (std::size_t i = 0; i < others.size(); ++i) {
    ranks.rest();
    if (absent) alone[i] = timed([&] { work.run(steps); });
    ranks.rest(); // the others sleep while rank 0 computes alone, so they cannot disturb it on a shared core
    one.write();  // one call out of the measurement warms up what the sleep has cooled down
    one.blocking();
    one.read();
    one.write();
    ranks.align();
    const double posting = spent([&] { one.post(); });
    let_all_post();
    if (absent) {
      beside[i] = spent([&] { work.run(steps); });
      own_wait[i] = spent([&] { one.wait(); });
    } else {
      others[i] = posting + spent([&] { one.wait(); });
    }
    ranks.rest();
    one.read();
  }
  one.verify();
  // Who is pinned to rank 0's core gets that core when the system takes it from the computation.
  samples elsewhere = own_rank % usable_cores() == 0 ? room_for(count) : others;
  ranks.maximum(elsewhere);
  for (samples* times : {&others, &alone, &beside, &own_wait})
    ranks.maximum(*times);
  const double us = median(others);
  record result{us,
                {{"blocking_us", together},
                 {"ratio", us / together},
                 {"other_cores_us", median(elsewhere)},
                 {"compute_us", median(alone)},
                 {"slowdown", ratio_of_medians(beside, alone)},
                 {"slowdown_total", ratio_of_sums(beside, alone)},
                 {"absent_wait_us", median(own_wait)},
                 {"total_us", sum(others)},
                 {"iterations", static_cast<double>(count)}}};
  processor.add_to(result, count);
  return result;
}

} // namespace perf
