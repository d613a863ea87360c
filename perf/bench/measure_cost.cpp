// SPDX-License-Identifier: BSD-3-Clause
// What the library takes from its caller: the posting call, and the processor time of doing nothing.
#include "perf/bench/measurements.hpp"
#include "perf/bench/processor_time.hpp"
#include "perf/bench/timing.hpp"

#include <array>
#include <chrono>
#include <thread>

namespace perf {
namespace {

double clock_cost_us() {
  std::array<double, 1001> samples{};
  for (double& sample : samples) {
    const double start = now_us();
    sample = now_us() - start;
  }
  return median(samples);
}

} // namespace

record measure_post(session& shared, operation op, std::size_t bytes) {
  trial one(shared, op, bytes);
  processor_meter processor(shared);
  const auto iteration = [&] {
    one.write();
    shared.ranks().align();
    const double elapsed = processor.during([&] {
      const double posting = timed([&] { one.post(); });
      one.wait();
      return posting;
    });
    one.read();
    return elapsed;
  };
  const int batch = shared.calibrate(iteration);
  processor.restart();
  const auto rings_before = shared.library().statistic("rings");
  samples times;
  times.reserve(static_cast<std::size_t>(shared.settings().maximum_iterations));
  shared.spend_budget(batch, [&](int count) {
    for (int i = 0; i < count; ++i)
      times.push_back(iteration());
  });
  const auto rings_after = shared.library().statistic("rings");
  one.verify();
  const double us = shared.ranks().maximum(median(times));
  record result{us,
                {{"ns", us * 1000.0},
                 {"p99_us", shared.ranks().maximum(quantile(times, 0.99))},
                 {"clock_us", shared.ranks().maximum(clock_cost_us())},
                 {"iterations", static_cast<double>(times.size())}}};
  processor.add_to(result, static_cast<double>(times.size()));
  if (rings_before && rings_after)
    result.figures.emplace_back("rings",
                                shared.ranks().maximum(static_cast<double>(*rings_after - *rings_before)));
  return result;
}

record measure_idle(session& shared, operation, std::size_t) {
  shared.ranks().rest();
  const double start = now_us();
  const double used_before = processor_time_us();
  std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(shared.settings().idle_us));
  const double used = processor_time_us() - used_before;
  const double elapsed = now_us() - start;
  return {shared.ranks().maximum(used),
          {{"core_percent", shared.ranks().maximum(100.0 * used / elapsed)}, {"elapsed_us", elapsed}}};
}

} // namespace perf
