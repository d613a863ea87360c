// SPDX-License-Identifier: BSD-3-Clause
#include "perf/bench/computation.hpp"

#include "perf/bench/statistics.hpp"

#include <algorithm>
#include <limits>

namespace perf {

computation::computation() {
  for (std::size_t i = 0; i < entries; ++i)
    table_[i] = i * 0x9e3779b97f4a7c15ULL + 1;
}

void computation::run(std::uint64_t steps) {
  std::uint64_t value = value_;
  for (std::uint64_t i = 0; i < steps; ++i) {
    std::uint64_t& entry = table_[i % entries];
    value = value * 6364136223846793005ULL + entry;
    entry = value;
  }
  value_ = value;
}

// The least of many short runs: ranks that share the core then show only in the runs that are thrown away.
double computation::measure_step_ns() {
  constexpr std::uint64_t steps = 20000;
  constexpr int runs = 200;
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < runs; ++i) {
    const double start = now_us();
    run(steps);
    least = std::min(least, now_us() - start);
  }
  return least * 1000.0 / static_cast<double>(steps);
}

} // namespace perf
