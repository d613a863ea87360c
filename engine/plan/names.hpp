// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/plan.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace weft::graph {

// Does every entry of a table stand at the place of its enumerator?
template <class Table, class Of> constexpr bool in_order(const Table& entries, Of enumerator_of) {
  std::size_t k = 0;
  for (const auto& entry : entries)
    if (static_cast<std::size_t>(enumerator_of(entry)) != k++) return false;
  return true;
}

// The words for what a plan is made of, for messages and pictures.
std::string_view name(fact f);
std::string_view name(pattern p);
std::string_view name(sync s);
std::string_view name(buffer b);
std::string_view name(peer_rule p);
std::string_view name(direction d);
std::string_view name(descriptor d);

} // namespace weft::graph
