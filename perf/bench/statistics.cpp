// SPDX-License-Identifier: BSD-3-Clause
#include "perf/bench/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace perf {

double quantile(std::vector<double> samples, double fraction) {
  if (samples.empty()) return 0.0;
  std::sort(samples.begin(), samples.end());
  const double place = fraction * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  return std::lerp(samples[below], samples[above], place - static_cast<double>(below));
}

double median(std::span<const double> samples) {
  return quantile({samples.begin(), samples.end()}, 0.5);
}

double sum(std::span<const double> samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0);
}

double overlap_percent(double total_us, double computation_us, double communication_us) {
  if (communication_us <= 0.0) return 0.0;
  const double hidden = 1.0 - (total_us - computation_us) / communication_us;
  return 100.0 * std::clamp(hidden, 0.0, 1.0);
}

} // namespace perf
