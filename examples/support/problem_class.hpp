// SPDX-License-Identifier: BSD-3-Clause
// The problem classes of the NAS benchmarks are called S, W and A in all of them.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>

namespace example {

// The entry of that name. Throws std::invalid_argument if there is none.
template <class Table> const auto& problem_class(const Table& table, std::string_view name) {
  const auto found = std::ranges::find_if(table, [&](const auto& p) { return p.name == name; });
  if (found == std::end(table))
    throw std::invalid_argument("unknown class " + std::string(name) + ": choose S, W or A");
  return *found;
}

} // namespace example
