// SPDX-License-Identifier: BSD-3-Clause
#include "api/calls/distributed_array.hpp"

namespace weft::api {

void distributed_array::fail_block() const {
  fail(c_.name, "blk_size", std::to_string(shape_.block), "must not exceed 2^32 - 1: a phase has 32 bits");
}

void distributed_array::fail_phase(const char* argument, upc_shared_ptr_t p) const {
  fail_pointer(c_.name, argument, p,
               "its phase must be below blk_size: make it with upc_ptradd, or pass the array's own block "
               "size");
}

void distributed_array::require_members(const char* argument, const reductions::layout& l) const {
  for (std::uint32_t t = 0; t < l.threads; ++t)
    if (l.rows_of(t) != 0 && c_.rank(t) >= c_.threads)
      fail(c_.name, argument, "thread " + std::to_string(t),
           "has elements and is no member of the team: pass an array that lies on the team's threads, or a "
           "team with all of its threads");
}

// From the lowest to the highest byte that any thread has of it.
void distributed_array::require_one_block(const char* argument, upc_shared_ptr_t p,
                                          const reductions::layout& l) const {
  std::uint64_t begin = ~std::uint64_t{0}, end = 0;
  for (std::uint32_t t = 0; t < l.threads; ++t) {
    const reductions::layout::span has = l.of_thread(t);
    if (has.elements == 0) continue;
    begin = std::min(begin, has.at);
    end = std::max(end, has.at + has.elements * l.size);
  }
  p.addr = begin;
  block_check::require_one_block(c_.rt, c_.name, argument, p, end - begin);
}

} // namespace weft::api
