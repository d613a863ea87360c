// SPDX-License-Identifier: BSD-3-Clause
#include "perf/bench/record_line.hpp"

#include <cmath>
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

namespace perf {
namespace {

// Four decimals: what lies below a tenth of a nanosecond is no information. Counts stay whole numbers.
nlohmann::ordered_json rounded(double value) {
  const double whole = std::floor(value);
  if (value == whole) return static_cast<std::int64_t>(whole);
  return std::round(value * 1e4) / 1e4;
}

} // namespace

void print_record(const measured_call& call, const figures& more) {
  nlohmann::ordered_json line{{"bench", call.bench}, {"op", call.op},     {"np", call.np},
                              {"bytes", call.bytes}, {"mode", call.mode}, {"library", call.library}};
  line["us"] = rounded(call.us);
  for (const auto& [name, value] : more)
    line[std::string(name)] = rounded(value);
  std::cout << line.dump() << std::endl;
}

} // namespace perf
