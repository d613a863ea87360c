// Broadcast: the root's block goes to the same place on every member, the root included.
//
// UPC collectives V1.0, 4.2.1. Source: the block itself on the root. Destination: one block of n bytes on
// each. Eager: the root publishes once, n bytes, whoever reads. Direct: each member copies for itself, or the
// root does for those who are away. P*n bytes moved in all, one step.
#include "engine/collectives/families.hpp"

namespace weft::collectives {

graph::plan compile_broadcast(const request& r, const graph::geometry& g, const tuning& t) {
  return relocate(r, graph::pattern::from_root, {.bytes = r.bytes}, g, t);
}

// V0.3, 5.3.1: the same block to dst[j] on each thread j, which reads its own pointer.
graph::plan compile_broadcast_x(const request& r, const graph::geometry& g, const tuning& t) {
  return relocate(r, graph::pattern::from_root, {.bytes = r.bytes}, g, t,
                  {.dst = {graph::found::at_destination}});
}

} // namespace weft::collectives
