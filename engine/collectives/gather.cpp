// SPDX-License-Identifier: BSD-3-Clause
// Gather: block i of the root's destination is member i's block.
//
// UPC collectives V1.0, 4.2.3. Source: n bytes on each. Destination: P*n bytes on the root.
// Eager: every member publishes its block, the root takes them. Direct: P copies of n bytes, one step, each
// by its owner or by the root, the one that comes first.
// bundled  Small: a host sends to the root's, or is asked by it, in one message: N-1 messages for N hosts.
#include "engine/collectives/by_rows.hpp"
#include "engine/collectives/families.hpp"

namespace weft::collectives {

graph::plan compile_flat_gather(const request& r, const graph::topology& g, const tuning& t) {
  return relocate(r, graph::pattern::to_root, {.bytes = r.bytes, .dst_i = r.bytes}, g, t);
}

bool fits_bundled_gather(const request& r, const graph::topology& g, const tuning& t) {
  return fits_bundled(r, true, g, t);
}
std::uint64_t cost_of_bundled_gather(const request& r, const graph::topology& g, const tuning& t) {
  return cost_of_bundled(r, true, g, t);
}
graph::plan compile_bundled_gather(const request& r, const graph::topology& g, const tuning& t) {
  return relocate_bundled(r, graph::pattern::to_root, {.bytes = r.bytes, .dst_i = r.bytes}, g, t);
}

// V0.3, 5.3.3: thread i's row says where its block lies, how long it is and where on the root it goes; the
// root may find itself named by others only.
graph::plan compile_gather_x(const request& r, const graph::topology& g, const tuning& t) {
  using graph::found;
  return relocate_rooted_by_rows(
      r, graph::pattern::by_source, {.bytes = 1, .dst_i = 1}, g, t,
      {.src = {found::at_source}, .dst = {found::at_source}, .size = {found::at_source}});
}

} // namespace weft::collectives
