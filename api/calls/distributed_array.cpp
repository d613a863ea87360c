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

} // namespace weft::api
