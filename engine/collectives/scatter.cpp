// SPDX-License-Identifier: BSD-3-Clause
// Scatter: block i of the root's source goes to member i, the root included.
//
// UPC collectives V1.0, 4.2.2. Source: P*n bytes on the root. Destination: one block of n bytes on each.
// Eager: the root publishes P-1 slices, each reader takes its own. Direct: P copies of n bytes, one step,
// each by its reader, or by the root for members that are away.
// bundled  Small: the root sends to each other host, or is asked by it, in one message: N-1 for N hosts.
#include "engine/collectives/by_rows.hpp"
#include "engine/collectives/families.hpp"

namespace weft::collectives {

graph::plan compile_flat_scatter(const request& r, const graph::topology& g, const tuning& t) {
  return relocate(r, graph::pattern::from_root, {.bytes = r.bytes, .src_j = r.bytes}, g, t);
}

bool fits_bundled_scatter(const request& r, const graph::topology& g, const tuning& t) {
  return fits_bundled(r, false, g, t);
}
std::uint64_t cost_of_bundled_scatter(const request& r, const graph::topology& g, const tuning& t) {
  return cost_of_bundled(r, false, g, t);
}
graph::plan compile_bundled_scatter(const request& r, const graph::topology& g, const tuning& t) {
  return relocate_bundled(r, graph::pattern::from_root, {.bytes = r.bytes, .src_j = r.bytes}, g, t);
}

// V0.3, 5.3.2: thread i's row says where its block lies on the root, how long it is and where it goes; the
// root may find itself named by others only.
graph::plan compile_scatter_x(const request& r, const graph::topology& g, const tuning& t) {
  using graph::found;
  return relocate_rooted_by_rows(
      r, graph::pattern::by_destination, {.bytes = 1, .src_j = 1}, g, t,
      {.src = {found::at_destination}, .dst = {found::at_destination}, .size = {found::at_destination}});
}

} // namespace weft::collectives
