// SPDX-License-Identifier: BSD-3-Clause
#include "engine/collectives/cost.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace weft::collectives {

cost_table parse_costs(const std::string& text) {
  constexpr const char* allowed =
      "name=number, separated by commas; names are latency, overhead, gap, copy (ns), byte, copied_byte (ps)";
  auto values = cost_table{}.values();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::size_t equals = std::min(text.find('=', begin), end);
    const auto name = std::find(cost_table::names.begin(), cost_table::names.end(),
                                std::string_view(text).substr(begin, equals - begin));
    std::uint64_t value = 0;
    const auto read = std::from_chars(text.data() + std::min(equals + 1, end), text.data() + end, value);
    if (name == cost_table::names.end() || read.ec != std::errc{} || read.ptr != text.data() + end)
      throw std::invalid_argument(allowed);
    // Larger ones than a second mean nothing, and products must fit.
    values[static_cast<std::size_t>(name - cost_table::names.begin())] =
        std::min<std::uint64_t>(value, 1'000'000'000);
    begin = end + 1;
  }
  return cost_table::of(values);
}

} // namespace weft::collectives
