// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Algorithms by name, and where they fit.
#include "engine/collectives/tuning.hpp"
#include "engine/topology/topology.hpp"
#include "tests/graph/operations.hpp"

#include <stdexcept>
#include <string_view>

namespace weft::graph {
using namespace collectives;

inline bool fits_all_with(const algorithm& a, const request& r, const node_map& nodes, const tuning& t) {
  return a.fits(r, topology(0, nodes), t);
}
inline bool fits_all(const algorithm& a, const request& r, const node_map& nodes) {
  return fits_all_with(a, r, nodes, forcing(a.op, a.name));
}

inline bool is_staged_algorithm(const algorithm& a) {
  return a.name != "flat" && a.name != "spread";
}

inline const algorithm& named(operation op, std::string_view name) {
  for (const algorithm& a : algorithms())
    if (a.op == op && a.name == name) return a;
  throw std::logic_error("no such algorithm");
}

} // namespace weft::graph
