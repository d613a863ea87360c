// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>

namespace weft::graph {

// Does every entry of a table stand at the place of its enumerator?
template <class Table, class Of> constexpr bool in_order(const Table& entries, Of enumerator_of) {
  std::size_t k = 0;
  for (const auto& entry : entries)
    if (static_cast<std::size_t>(enumerator_of(entry)) != k++) return false;
  return true;
}

} // namespace weft::graph
