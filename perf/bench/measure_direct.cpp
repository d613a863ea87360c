// Plain calls: from a common start, and back to back.
#include "perf/bench/measurements.hpp"
#include "perf/bench/timing.hpp"

namespace perf {

record measure_blocking(session& shared, operation op, std::size_t bytes) {
  trial one(shared, op, bytes);
  const auto iteration = [&] {
    one.write();
    shared.ranks().align();
    const double elapsed = timed([&] { one.blocking(); });
    one.read();
    return elapsed;
  };
  const samples times = slowest_of_each(shared, iteration, [&] { one.verify(); });
  one.verify();
  const double total = sum(times);
  const auto count = static_cast<double>(times.size());
  return {median(times),
          {{"mean_us", total / count},
           {"total_us", total},
           {"p99_us", quantile(times, 0.99)},
           {"iterations", count}}};
}

record measure_loop(session& shared, operation op, std::size_t bytes) {
  trial one(shared, op, bytes);
  const auto iteration = [&] {
    one.write();
    one.blocking();
    one.read();
  };
  const int batch = shared.calibrate(iteration);
  one.verify();
  const run_times calls = back_to_back(shared, batch, iteration);
  one.verify();
  const run_times touching = back_to_back(shared, batch, [&] { one.touch(); });
  return {calls.mean,
          {{"median_us", calls.median},
           {"touch_us", touching.median},
           {"total_us", calls.total},
           {"iterations", calls.iterations}}};
}

} // namespace perf
