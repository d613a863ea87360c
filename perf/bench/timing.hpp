// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "perf/bench/processor_time.hpp"
#include "perf/bench/session.hpp"

#include <cstddef>
#include <vector>

namespace perf {

using samples = std::vector<double>;

template <class F> double timed(F&& body) {
  const double start = now_us();
  body();
  return now_us() - start;
}

// Aligned iterations: `iteration` returns the local time of what it measures, and the result has, for each
// iteration, the time of the slowest rank. `before` runs between the calibration and the measurement.
template <class F, class G> samples slowest_of_each(session& shared, F&& iteration, G&& before) {
  const int batch = shared.calibrate(iteration);
  before();
  samples times;
  times.reserve(static_cast<std::size_t>(shared.settings().maximum_iterations));
  shared.spend_budget(batch, [&](int count) {
    for (int i = 0; i < count; ++i)
      times.push_back(iteration());
  });
  shared.ranks().maximum(times);
  return times;
}

// Iterations back to back.
struct run_times {
  double mean = 0;   // of one iteration: the total of the slowest rank by the number of iterations
  double median = 0; // of one iteration in the middle one of the batches
  double total = 0;
  double iterations = 0;
};

// The ranks are aligned before each batch and not within it.
template <class F>
run_times back_to_back(session& shared, processor_meter& processor, int batch, F&& iteration) {
  samples times;
  shared.spend_budget(batch, [&](int count) {
    shared.ranks().align();
    times.push_back(processor.during([&] {
      return timed([&] {
        for (int i = 0; i < count; ++i)
          iteration();
      });
    }));
  });
  const double iterations = static_cast<double>(times.size()) * batch;
  const double total = shared.ranks().maximum(sum(times));
  shared.ranks().maximum(times);
  return {total / iterations, median(times) / batch, total, iterations};
}

} // namespace perf
