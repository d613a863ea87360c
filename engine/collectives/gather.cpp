// Gather: block i of the root's destination is member i's block.
//
// UPC collectives V1.0, 4.2.3. Source: n bytes on each. Destination: P*n bytes on the root.
// Eager: every member publishes its block, the root takes them. Direct: P copies of n bytes, one step, each
// by its owner or by the root, whoever comes first.
#include "engine/collectives/families.hpp"

namespace weft::collectives {

graph::plan compile_gather(const request& r, const graph::geometry& g, const tuning& t) {
  return relocate(r, graph::pattern::to_root, {.bytes = r.bytes, .dst_i = r.bytes}, g, t);
}

} // namespace weft::collectives
