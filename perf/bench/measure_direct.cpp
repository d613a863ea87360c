// SPDX-License-Identifier: BSD-3-Clause
// Plain calls: from a common start, and back to back.
#include "perf/bench/measurements.hpp"
#include "perf/bench/timing.hpp"

namespace perf {

record measure_blocking(session& shared, operation op, std::size_t bytes) {
  trial one(shared, op, bytes);
  processor_meter processor(shared);
  const auto iteration = [&] {
    one.write();
    shared.ranks().align();
    const double elapsed = processor.during([&] { return timed([&] { one.blocking(); }); });
    one.read();
    return elapsed;
  };
  const samples times = slowest_of_each(shared, iteration, [&] {
    one.verify();
    processor.restart(); // what the calibration used does not count
  });
  one.verify();
  const double total = sum(times);
  const auto count = static_cast<double>(times.size());
  record result{median(times),
                {{"mean_us", total / count},
                 {"total_us", total},
                 {"p99_us", quantile(times, 0.99)},
                 {"iterations", count}}};
  processor.add_to(result, count);
  return result;
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
  processor_meter processor(shared), unread(shared);
  const run_times calls = back_to_back(shared, processor, batch, iteration);
  one.verify();
  const run_times touching = back_to_back(shared, unread, batch, [&] { one.touch(); });
  record result{calls.mean,
                {{"median_us", calls.median},
                 {"touch_us", touching.median},
                 {"total_us", calls.total},
                 {"iterations", calls.iterations}}};
  processor.add_to(result, calls.iterations);
  return result;
}

} // namespace perf
