// SPDX-License-Identifier: BSD-3-Clause
// A measurement as the line of output that the runner reads: one JSON object.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace perf {

// What all benches have: `us` is the main figure.
struct measured_call {
  std::string_view bench, op;
  int np;
  std::size_t bytes;
  std::string_view mode, library;
  double us;
};

using figures = std::vector<std::pair<std::string_view, double>>;

void print_record(const measured_call& call, const figures& more);

} // namespace perf
