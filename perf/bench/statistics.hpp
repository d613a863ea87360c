// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <span>
#include <vector>

namespace perf {

inline double now_us() {
  using namespace std::chrono;
  return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

// The value below which the given fraction of the samples lies, interpolated between neighbours.
double quantile(std::vector<double> samples, double fraction);
double median(std::span<const double> samples);
double sum(std::span<const double> samples);

// Share of the communication that the computation hid, in percent: 100 if both together took no longer than
// the longer one alone, 0 if they took the sum. Measured against the computation alone, so a computation that
// the library slowed down counts against it.
double overlap_percent(double total_us, double computation_us, double communication_us);

} // namespace perf
