// SPDX-License-Identifier: BSD-3-Clause
// Gather and scatter, block by block. Those with addresses in shared memory are in by_rows.cpp.
//
// Gather: block i of the root's destination is member i's block.
//
// UPC collectives V1.0, 4.2.3. Source: n bytes on each. Destination: P*n bytes on the root.
// Eager: every member publishes its block, the root takes them. Direct: P copies of n bytes, one step, each
// by its owner or by the root, the one that comes first.
// bundled  Small: a host sends to the root's, or is asked by it, in one message: N-1 messages for N hosts.
//
// Scatter: block i of the root's source goes to member i, the root included.
//
// UPC collectives V1.0, 4.2.2. Source: P*n bytes on the root. Destination: one block of n bytes on each.
// Eager: the root publishes P-1 slices, each reader takes its own. Direct: P copies of n bytes, one step,
// each by its reader, or by the root for members that are away.
// bundled  Small: the root sends to each other host, or is asked by it, in one message: N-1 for N hosts.
#include "engine/collectives/algorithm.hpp"

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

} // namespace weft::collectives
