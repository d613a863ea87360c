// Exchange (all-to-all): block i of member j's source becomes block j of member i's destination.
//
// UPC collectives V1.0, 4.2.5; Cray's team all-to-all is the same movement. P*n bytes on each on both sides.
// In place the blocks of two members change places (transpose.hpp).
// Eager: P-1 slices published in the sender's own slot. Direct: P*P copies of n bytes, one step, each begun
// when its two ends allow it.
#include "engine/collectives/families.hpp"
#include "engine/collectives/transpose.hpp"

namespace weft::collectives {

graph::plan compile_exchange(const request& r, const graph::geometry& g, const tuning& t) {
  const graph::block_rule rule{.bytes = r.bytes, .src_j = r.bytes, .dst_i = r.bytes};
  return r.in_place ? transpose(r, rule, g, t) : relocate(r, graph::pattern::all_pairs, rule, g, t);
}

// V0.3, 5.3.5: nbytes[j*T+i] bytes at src[j*T+i] on thread j go to dst[i*T+j] on thread i.
graph::plan compile_exchange_x(const request& r, const graph::geometry& g, const tuning& t) {
  using graph::column, graph::found;
  const graph::block_rule rule{.bytes = 1, .src_j = 1, .dst_i = 1};
  const graph::indirection rows{.src = {found::at_source, column::other},
                                .dst = {found::at_destination, column::other},
                                .size = {found::at_source, column::other}};
  return r.in_place ? transpose(r, rule, g, t, rows)
                    : relocate(r, graph::pattern::all_pairs, rule, g, t, rows);
}

} // namespace weft::collectives
