// SPDX-License-Identifier: BSD-3-Clause
// Permute: member i's block goes to member perm[i].
//
// Cray's upc_all_permute (UPC collectives before V1.0 had it too). Source and destination: n bytes on each;
// the permutation: one int on each, read there. One step, P*n bytes in all.
#include "engine/collectives/by_rows.hpp"
#include "engine/collectives/families.hpp"

namespace weft::collectives {

graph::plan compile_permute(const request& r, const graph::topology& g, const tuning& t) {
  return relocate_permuted(r, graph::naming::rank, {.bytes = r.bytes}, g, t, {});
}

// V0.3, 5.3.6: nbytes[i] bytes at src[i] go to dst[perm[i]], of which only that thread knows the address.
graph::plan compile_permute_x(const request& r, const graph::topology& g, const tuning& t) {
  using graph::found;
  return relocate_permuted(
      r, r.wide_perm ? graph::naming::wide_thread : graph::naming::thread, {.bytes = 1}, g, t,
      {.src = {found::at_source}, .dst = {found::at_destination}, .size = {found::at_source}});
}

} // namespace weft::collectives
