#pragma once
#include "api/calls/collective_call.hpp"
#include "api/include/weft/reduction.hpp"
#include "engine/reductions/reduction.hpp"

namespace weft::api {

// What a reduction of an array is called with.
struct array_reduction_call {
  const char* name;
  collectives::operation op;
  reductions::element type;
  upc_shared_ptr_t dst, src;
  upc_op_t with;
  std::size_t nelems, blk_size;
  void (*function)() = nullptr;                    // of C, or
  const detail::user_operator* callable = nullptr; // of C++
  upc_flag_t flags;
  upc_team_t team;
};

upc_coll_handle_t reduce(const array_reduction_call& call);

} // namespace weft::api
