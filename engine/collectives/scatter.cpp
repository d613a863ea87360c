// Scatter: block i of the root's source goes to member i, the root included.
//
// UPC collectives V1.0, 4.2.2. Source: P*n bytes on the root. Destination: one block of n bytes on each.
// Eager: the root publishes P-1 slices, each reader takes its own. Direct: P copies of n bytes, one step,
// each by its reader, or by the root for those who are away.
#include "engine/collectives/families.hpp"

namespace weft::collectives {

graph::plan compile_scatter(const request& r, const graph::geometry& g, const tuning& t) {
  return relocate(r, graph::pattern::from_root, {.bytes = r.bytes, .src_j = r.bytes}, g, t);
}

} // namespace weft::collectives
