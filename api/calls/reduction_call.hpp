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

// What follows from the layouts and the operator, for the task and for the request.
void prepare(reductions::reduction& r, std::uint32_t threads, collectives::request& wanted);
// Its elements are on the same threads, in the same rows, before and after.
inline bool alike(const reductions::layout& a, const reductions::layout& b) {
  return a.first == b.first && a.phase == b.phase;
}

} // namespace weft::api
