// Plain calls: from a common start, and back to back.
#include "perf/bench/measurements.hpp"

namespace perf {

record measure_blocking(session& shared, operation op, std::size_t bytes) {
  trial one(shared, op, bytes);
  const auto iteration = [&] {
    one.write();
    shared.ranks().align();
    const double start = now_us();
    one.blocking();
    const double elapsed = now_us() - start;
    one.read();
    return elapsed;
  };
  const int count = shared.agree_on_iterations(iteration);
  one.verify();
  std::vector<double> samples(static_cast<std::size_t>(count));
  for (double& sample : samples)
    sample = iteration();
  one.verify();
  shared.ranks().maximum(samples);
  const double total = sum(samples);
  return {median(samples),
          {{"mean_us", total / count},
           {"total_us", total},
           {"p99_us", quantile(samples, 0.99)},
           {"iterations", static_cast<double>(count)}}};
}

namespace {

// Local times of `slices` parts of a run of back-to-back iterations; nothing synchronises the ranks between
// them.
template <class F> std::vector<double> time_slices(session& shared, int slices, int per_slice, F&& body) {
  std::vector<double> times(static_cast<std::size_t>(slices));
  shared.ranks().align();
  double start = now_us();
  for (double& time : times) {
    for (int i = 0; i < per_slice; ++i)
      body();
    const double end = now_us();
    time = end - start;
    start = end;
  }
  return times;
}

} // namespace

record measure_loop(session& shared, operation op, std::size_t bytes) {
  trial one(shared, op, bytes);
  const auto iteration = [&] {
    one.write();
    one.blocking();
    one.read();
  };
  const int wanted = shared.agree_on_iterations(iteration);
  const int slices = std::min(wanted, 20);
  const int per_slice = wanted / slices;
  const double count = static_cast<double>(slices) * per_slice;
  one.verify();
  std::vector<double> times = time_slices(shared, slices, per_slice, iteration);
  one.verify();
  const double total = shared.ranks().maximum(sum(times));
  shared.ranks().maximum(times);
  const std::vector<double> touching = time_slices(shared, slices, per_slice, [&] { one.touch(); });
  const double touch = shared.ranks().maximum(median(touching));
  return {total / count,
          {{"median_us", median(times) / per_slice},
           {"touch_us", touch / per_slice},
           {"total_us", total},
           {"iterations", count}}};
}

} // namespace perf
