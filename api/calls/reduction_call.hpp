// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/calls/collective_call.hpp"
#include "engine/reductions/reduction.hpp"
#include "include/weft/reduction.hpp"

namespace weft::api {

// What a reduction of an array is called with.
struct array_reduction_call {
  const char* name = nullptr;
  collectives::operation op{};
  reductions::element type{};
  upc_shared_ptr_t dst{}, src{};
  upc_op_t with = 0;
  std::size_t nelems = 0, blk_size = 0;
  void (*function)() = nullptr;                    // of C, or
  const detail::user_operator* callable = nullptr; // of C++
  upc_flag_t flags = 0;
  upc_team_t team = 0;

  // The same operation with the same arguments, whatever the name.
  bool operator==(const array_reduction_call& other) const {
    return is_same(dst, other.dst) && is_same(src, other.src) && nelems == other.nelems &&
           blk_size == other.blk_size && op == other.op && type == other.type && with == other.with &&
           flags == other.flags && team == other.team && function == other.function &&
           callable == other.callable;
  }
};

upc_coll_handle_t reduce(const array_reduction_call& call);

// What follows from the layouts and the operator, for the task and for the request.
void prepare(reductions::reduction& r, std::uint32_t threads, collectives::request& wanted);
// Its elements are on the same threads, in the same rows, before and after.
inline bool alike(const reductions::layout& a, const reductions::layout& b) {
  return a.first == b.first && a.phase == b.phase;
}

} // namespace weft::api
