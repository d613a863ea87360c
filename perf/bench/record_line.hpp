// A measurement as the line of output that the runner reads: one JSON object.
#pragma once

#include <cmath>
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string_view>

namespace perf {

// Four decimals: what lies below a tenth of a nanosecond is no information. Counts stay whole numbers.
inline nlohmann::ordered_json rounded(double value) {
  const double whole = std::floor(value);
  if (value == whole) return static_cast<std::int64_t>(whole);
  return std::round(value * 1e4) / 1e4;
}

// What all benches have: `us` is the main figure.
struct measured_call {
  std::string_view bench, op;
  int np;
  std::size_t bytes;
  std::string_view mode, library;
  double us;
};

// The figures are pairs of a name and a value.
template <class Figures> void print_record(const measured_call& call, const Figures& figures) {
  nlohmann::ordered_json line{{"bench", call.bench}, {"op", call.op},     {"np", call.np},
                              {"bytes", call.bytes}, {"mode", call.mode}, {"library", call.library}};
  line["us"] = rounded(call.us);
  for (const auto& [name, value] : figures)
    line[std::string(name)] = rounded(value);
  std::cout << line.dump() << std::endl;
}

} // namespace perf
