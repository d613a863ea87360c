// Exchange (all-to-all): block i of member j's source becomes block j of member i's destination.
//
// UPC collectives V1.0, 4.2.5; Cray's team all-to-all is the same movement. P*n bytes on each on both sides.
// Eager: P-1 slices published in the sender's own slot. Direct: P*P copies of n bytes, one step, each begun
// when its two ends allow it.
#include "engine/collectives/families.hpp"

namespace weft::collectives {

graph::plan compile_exchange(const request& r, const graph::geometry& g, const tuning& t) {
  return relocate(r, graph::pattern::all_pairs, {.bytes = r.bytes, .src_j = r.bytes, .dst_i = r.bytes}, g, t);
}

} // namespace weft::collectives
