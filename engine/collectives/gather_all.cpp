// Gather-all: block i of every member's destination is member i's block.
//
// UPC collectives V1.0, 4.2.4. Source: n bytes on each. Destination: P*n bytes on each.
// Eager: every member publishes its block once. Direct: P*P copies of n bytes, one step.
#include "engine/collectives/families.hpp"

namespace weft::collectives {

graph::plan compile_gather_all(const request& r, const graph::geometry& g, const tuning& t) {
  return relocate(r, graph::pattern::all_pairs, {.bytes = r.bytes, .dst_i = r.bytes}, g, t);
}

} // namespace weft::collectives
