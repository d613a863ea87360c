// SPDX-License-Identifier: BSD-3-Clause
#include "include/weft/collective_x.h"

#include "api/calls/collective_call.hpp"
#include "api/calls/staged_series.hpp"
#include "api/checks/checks.hpp"
#include "engine/collectives/operations.hpp"

#include <algorithm>
#include <array>
#include <span>

// The collectives of V0.3, whose operands are arrays in shared memory. Nothing of an array is read here: it
// is data, and the mode says when it may be touched.
namespace weft {
namespace api {
namespace {

using collectives::operation;
using collectives::request;

// An array indexed by thread of the job, of which each thread has so many elements. Its phase is not looked
// at, like that of every pointer that the text ties to thread 0.
void require_array(const collective_call& c, const char* argument, upc_shared_ptr_t p, std::size_t element,
                   std::size_t alignment, checked count) {
  require_not_null(c.name, argument, p);
  require_thread_zero(c.name, argument, p);
  require_aligned(c.name, argument, p, alignment);
  require_on_all(c, {argument, p, element * count});
}

void require_pointers(const collective_call& c, const char* argument, upc_shared_ptr_t p, checked count) {
  require_array(c, argument, p, sizeof(upc_shared_ptr_t), alignof(upc_shared_ptr_t), count);
}

void require_sizes(const collective_call& c, const char* argument, upc_shared_ptr_t p, checked count) {
  require_array(c, argument, p, sizeof(std::size_t), alignof(std::size_t), count);
}

// src of an operation that may be in place as a whole: whether it is.
bool require_sources(const collective_call& c, upc_shared_ptr_t dst, upc_shared_ptr_t src, checked count) {
  if (in_place(c, dst, src)) return true;
  require_pointers(c, "src", src, count);
  require_not_same(c, dst, src);
  return false;
}

upc_coll_handle_t broadcast_x(const collective_call& c, upc_shared_ptr_t dst, upc_shared_ptr_t src,
                              checked nbytes) {
  require_pointers(c, "dst", dst, 1);
  std::uint32_t root = 0;
  if (nbytes != 0 || !upc_isnull(src)) {
    require_source(c, src);
    root = require_root(c, {"src", src, nbytes});
    if (nbytes != 0) require_range(c.rt, c.name, "src", src, nbytes);
  }
  return c.start({.op = operation::broadcast_x, .root = root, .bytes = nbytes.plain()},
                 {.dst = dst.addr, .src = src.addr});
}

// scatter_x and gather_x: the root is where the elements lead to.
upc_coll_handle_t rooted_x(const collective_call& c, operation op, upc_shared_ptr_t dst, upc_shared_ptr_t src,
                           upc_shared_ptr_t nbytes) {
  require_pointers(c, "dst", dst, 1);
  require_source(c, src);
  require_pointers(c, "src", src, 1);
  require_sizes(c, "nbytes", nbytes, 1);
  return c.start({.op = op}, {.dst = dst.addr, .src = src.addr, .sizes = nbytes.addr});
}

// The elements of each thread in the arrays of an operation without root.
struct rows {
  std::size_t dst, src, nbytes;
};

upc_coll_handle_t symmetric_x(const collective_call& c, request r, upc_shared_ptr_t dst, upc_shared_ptr_t src,
                              upc_shared_ptr_t nbytes, const rows& each, std::uint64_t perm = 0) {
  require_pointers(c, "dst", dst, each.dst);
  r.in_place = require_sources(c, dst, src, each.src);
  require_sizes(c, "nbytes", nbytes, each.nbytes);
  return c.start(
      r, {.dst = dst.addr, .src = r.in_place ? dst.addr : src.addr, .sizes = nbytes.addr, .perm = perm});
}

// In the order of weft_movement_t.
constexpr operation movements[] = {operation::broadcast, operation::scatter, operation::gather,
                                   operation::gather_all, operation::exchange};

// Each message is an operation.
upc_coll_handle_t start_messages(const collective_call& c, request r, graph::binding at,
                                 std::uint64_t message) {
  std::array<collectives::bound_request, series_cut::most> all;
  std::size_t count = 0;
  const std::uint64_t whole = r.bytes;
  for (; at.sizes != whole; at.sizes += r.bytes, ++count) {
    r.bytes = std::min(message, whole - at.sizes);
    const checked_call one = c.ready(r, at);
    all[count] = {one.request, one.at};
  }
  return c.posted(c.post(std::span(all.data(), count)));
}

// Of equal blocks: a row has a pointer to each of them.
upc_coll_handle_t move_x(const collective_call& c, weft_movement_t what, upc_shared_ptr_t dst,
                         upc_shared_ptr_t src, checked nbytes, int root) {
  if (what < WEFT_MOVE_BROADCAST || what > WEFT_MOVE_EXCHANGE)
    fail(c.name, "what", std::to_string(static_cast<int>(what)),
         "is no movement: pass WEFT_MOVE_EXCHANGE or another enumerator of weft_movement_t");
  const collectives::operation_facts& of = collectives::facts_of(movements[what]);
  const auto pointers = [&c](collectives::blocks_of_operand blocks) {
    return blocks == collectives::blocks_of_operand::one ? 1 : c.rt.size();
  };
  require_root_rank(c, root);
  require_pointers(c, "dst", dst, pointers(of.dst));
  require_pointers(c, "src", src, pointers(of.src));
  if (upc_ptreq(dst, src) != 0) fail_pointer(c.name, "src", src, "is dst: each has an array of its own");
  const request r{.op = of.op,
                  .root = collectives::rooted(of.op) ? static_cast<std::uint32_t>(root) : 0,
                  .bytes = nbytes.plain(),
                  .apart = true,
                  .whole = true};
  const graph::binding at{.dst = dst.addr, .src = src.addr};
  const auto [message, several] = c.rt.teams().longest_in_messages(c.team);
  const bool one = c.m.in == graph::sync::no || r.bytes <= message || r.bytes > several;
  return one ? c.start(r, at) : start_messages(c, r, at, message);
}

upc_coll_handle_t permute_x(const collective_call& c, bool wide, upc_shared_ptr_t dst, upc_shared_ptr_t src,
                            upc_shared_ptr_t perm, upc_shared_ptr_t nbytes) {
  const std::size_t element = wide ? sizeof(std::size_t) : sizeof(int);
  require_array(c, "perm", perm, element, element, 1);
  return symmetric_x(c, {.op = operation::permute_x, .wide_perm = wide}, dst, src, nbytes, {1, 1, 1},
                     perm.addr);
}

} // namespace
} // namespace api

upc_coll_handle_t upc_all_broadcast_x(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                      upc_flag_t sync_mode, upc_team_t team) {
  return api::broadcast_x(api::begin_collective("upc_all_broadcast_x", sync_mode, team), dst, src, nbytes);
}

upc_coll_handle_t upc_all_scatter_x(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_shared_ptr_t nbytes,
                                    upc_flag_t sync_mode, upc_team_t team) {
  return api::rooted_x(api::begin_collective("upc_all_scatter_x", sync_mode, team),
                       collectives::operation::scatter_x, dst, src, nbytes);
}

upc_coll_handle_t upc_all_gather_x(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_shared_ptr_t nbytes,
                                   upc_flag_t sync_mode, upc_team_t team) {
  return api::rooted_x(api::begin_collective("upc_all_gather_x", sync_mode, team),
                       collectives::operation::gather_x, dst, src, nbytes);
}

upc_coll_handle_t upc_all_gather_all_x(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_shared_ptr_t nbytes,
                                       upc_flag_t sync_mode, upc_team_t team) {
  const api::collective_call c = api::begin_collective("upc_all_gather_all_x", sync_mode, team);
  return api::symmetric_x(c, {.op = collectives::operation::gather_all_x}, dst, src, nbytes,
                          {.dst = c.rt.size(), .src = 1, .nbytes = 1});
}

upc_coll_handle_t upc_all_exchange_x(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_shared_ptr_t nbytes,
                                     upc_flag_t sync_mode, upc_team_t team) {
  const api::collective_call c = api::begin_collective("upc_all_exchange_x", sync_mode, team);
  const std::size_t row = c.rt.size();
  return api::symmetric_x(c, {.op = collectives::operation::exchange_x}, dst, src, nbytes, {row, row, row});
}

upc_coll_handle_t weft_all_move_x(weft_movement_t what, upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                  size_t nbytes, int root, upc_flag_t sync_mode, upc_team_t team) {
  return api::move_x(api::begin_collective("weft_all_move_x", sync_mode, team), what, dst, src, nbytes, root);
}

size_t weft_message_bytes(upc_team_t team) {
  constexpr const char* call = "weft_message_bytes";
  api::runtime& rt = api::runtime::get(call);
  api::require_team(rt, call, team);
  return rt.teams().longest_in_messages(team).several;
}

upc_coll_handle_t upc_all_permute_x(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_shared_ptr_t perm,
                                    upc_shared_ptr_t nbytes, upc_flag_t sync_mode, upc_team_t team) {
  return api::permute_x(api::begin_collective("upc_all_permute_x", sync_mode, team), true, dst, src, perm,
                        nbytes);
}

upc_coll_handle_t upc_all_permute_xi(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_shared_ptr_t perm,
                                     upc_shared_ptr_t nbytes, upc_flag_t sync_mode, upc_team_t team) {
  return api::permute_x(api::begin_collective("upc_all_permute_xi", sync_mode, team), false, dst, src, perm,
                        nbytes);
}

} // namespace weft
