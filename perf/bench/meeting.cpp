// SPDX-License-Identifier: BSD-3-Clause
#include "perf/bench/meeting.hpp"

#include "perf/bench/pin.hpp"

#include <numeric>
#include <vector>

namespace perf {

// The cores are those of this machine, whatever hosts the ranks take themselves for.
meeting::meeting(int rank, int size) : rank_(rank), size_(size), share_cores_(size > usable_cores()) {}

double meeting::maximum(double value) {
  maximum(std::span<double>(&value, 1));
  return value;
}

double meeting::sum(double value) {
  std::vector<double> values(static_cast<std::size_t>(size_), 0.0);
  values[static_cast<std::size_t>(rank_)] = value;
  maximum(values);
  return std::accumulate(values.begin(), values.end(), 0.0);
}

} // namespace perf
