// Gather-all: block i of every member's destination is member i's block.
//
// UPC collectives V1.0, 4.2.4. Source: n bytes on each. Destination: P*n bytes on each.
// Eager: every member publishes its block once. Direct: P*P copies of n bytes, one step.
#include "engine/collectives/families.hpp"

namespace weft::collectives {

graph::plan compile_gather_all(const request& r, const graph::geometry& g, const tuning& t) {
  const std::uint64_t own = r.in_place ? r.bytes : 0; // in place: block i of member i's own destination
  return relocate(r, graph::pattern::all_pairs, {.bytes = r.bytes, .src_i = own, .dst_i = r.bytes}, g, t);
}

// V0.3, 5.3.4: thread i's nbytes[i] bytes at src[i] go to dst[j*T+i] on each thread j. In place they are what
// dst[i*T+i] points to.
graph::plan compile_gather_all_x(const request& r, const graph::geometry& g, const tuning& t) {
  using graph::column, graph::found;
  return relocate(r, graph::pattern::all_pairs, {.bytes = 1, .dst_i = 1}, g, t,
                  {.src = {found::at_source, r.in_place ? column::own : column::only},
                   .dst = {found::at_destination, column::other},
                   .size = {found::at_source}});
}

} // namespace weft::collectives
