// SPDX-License-Identifier: BSD-3-Clause
#include "api/calls/relocation.hpp"

namespace weft::api {

void fail_first(const collective_call& c, const char* argument, upc_shared_ptr_t p) {
  if (c.of_all()) require_thread_zero(c.name, argument, p);
  fail_pointer(c.name, argument, p, "must have affinity to the thread of rank 0 of the team");
}

void fail_overlap(const collective_call& c, const area& dst) {
  fail_pointer(c.name, dst.argument, dst.at, "overlaps src: pass two areas that have no byte in common");
}

void fail_other_source(const collective_call& c, upc_shared_ptr_t src) {
  fail_pointer(
      c.name, "src", src,
      "must be null or dst, as the operation is in place: leave UPC_IN_PLACE out of sync_mode, or pass "
      "dst for src");
}

void fail_same(const collective_call& c, upc_shared_ptr_t src) {
  fail_pointer(c.name, "src", src,
               "is dst, so the two overlap: pass another area, or UPC_IN_PLACE in sync_mode");
}

void fail_source(const collective_call& c, upc_shared_ptr_t src) {
  fail(c.name, "src", is_in_place_mark(src) ? "UPC_IN_PLACE" : "(" + describe(src) + ")",
       "this operation needs its source in place too, for only the root's own block is not copied: pass the "
       "pointer, and UPC_IN_PLACE in sync_mode");
}

void fail_outsider(const collective_call& c, const area& of_root) {
  fail(c.name, of_root.argument, "thread " + std::to_string(of_root.at.thread),
       "is no member of the team: the root, whose thread this is, must be one");
}

void fail_rooted_overlap(const collective_call& c, const area& of_root, const area& tied) {
  fail(c.name, tied.argument, "(" + describe(tied.at) + ")",
       std::string("overlaps ") + of_root.argument +
           ": pass two areas that have no byte in common, or, with UPC_IN_PLACE in sync_mode, the root's own "
           "block at exactly the same place in both");
}

} // namespace weft::api
