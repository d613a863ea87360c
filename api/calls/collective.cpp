// SPDX-License-Identifier: BSD-3-Clause
#include "include/upc_collective.h"

#include "api/calls/collective_call.hpp"
#include "api/checks/checks.hpp"
#include "engine/collectives/operations.hpp"

// The collectives of V1.0. Each exists for all threads, for a team, and in C++ for a team under its own name.
namespace weft {
namespace api {
namespace {

using collectives::operation;

struct operands {
  upc_shared_ptr_t dst{}, src{}, perm{};
  std::size_t nbytes = 0;
  upc_flag_t sync_mode = 0;
  upc_team_t team = 0;

  bool operator==(const operands& other) const {
    return is_same(dst, other.dst) && is_same(src, other.src) && nbytes == other.nbytes &&
           sync_mode == other.sync_mode && team == other.team && is_same(perm, other.perm);
  }
};

// An int of each thread, that is read although nothing may be copied, and that is not written.
void require_permutation(const collective_call& c, upc_shared_ptr_t perm, const area& dst) {
  require_first(c, "perm", perm);
  require_aligned(c.name, "perm", perm, alignof(int));
  require_on_all(c, {"perm", perm, sizeof(int)});
  if (overlap({"perm", perm, sizeof(int)}, dst)) [[unlikely]]
    fail_pointer(c.name, "perm", perm, "overlaps dst: pass two areas that have no byte in common");
}

// By the row of the operation in the catalogue.
template <operation op> checked_call check(const collective_call& c, const operands& o) {
  constexpr const collectives::operation_facts& of = collectives::facts_of(op);
  constexpr auto one = collectives::blocks_of_operand::one;
  if constexpr (collectives::rooted(op)) require_source(c, o.src);
  const checked all = bytes_of_all(c, o.nbytes);
  const area dst{"dst", o.dst, of.dst == one ? checked(o.nbytes) : all};
  const area src{"src", o.src, of.src == one ? checked(o.nbytes) : all};
  std::uint32_t root = 0;
  bool in_place = false;
  if constexpr (of.root == collectives::root_has::source)
    root = require_rooted(c, src, dst);
  else if constexpr (of.root == collectives::root_has::destination)
    root = require_rooted(c, dst, src);
  else
    in_place = require_symmetric(c, dst, src);
  if constexpr (of.permutes) require_permutation(c, o.perm, dst);
  return c.ready({.op = op, .root = root, .bytes = o.nbytes, .in_place = in_place},
                 {.dst = o.dst.addr, .src = in_place ? o.dst.addr : o.src.addr, .perm = o.perm.addr});
}

template <operation op> upc_coll_handle_t call(const char* name, const operands& o) {
  return start_checked<op, checked_call>(
      name, o, [&] { return check<op>(begin_collective(name, o.sync_mode, o.team), o); },
      [&](runtime& rt, const checked_call& ready) { return start(name, rt, o.team, ready); });
}

} // namespace
} // namespace api

using collectives::operation;

upc_coll_handle_t upc_all_broadcast(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                    upc_flag_t sync_mode) {
  return api::call<operation::broadcast>("upc_all_broadcast",
                                         {dst, src, {}, nbytes, sync_mode, UPC_TEAM_ALL});
}

upc_coll_handle_t upc_all_broadcast_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                         upc_flag_t sync_mode, upc_team_t team) {
  return api::call<operation::broadcast>("upc_all_broadcast_team", {dst, src, {}, nbytes, sync_mode, team});
}

upc_coll_handle_t upc_all_broadcast(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                    upc_flag_t sync_mode, upc_team_t team) {
  return api::call<operation::broadcast>("upc_all_broadcast", {dst, src, {}, nbytes, sync_mode, team});
}

upc_coll_handle_t upc_all_scatter(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                  upc_flag_t sync_mode) {
  return api::call<operation::scatter>("upc_all_scatter", {dst, src, {}, nbytes, sync_mode, UPC_TEAM_ALL});
}

upc_coll_handle_t upc_all_scatter_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                       upc_flag_t sync_mode, upc_team_t team) {
  return api::call<operation::scatter>("upc_all_scatter_team", {dst, src, {}, nbytes, sync_mode, team});
}

upc_coll_handle_t upc_all_scatter(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                  upc_flag_t sync_mode, upc_team_t team) {
  return api::call<operation::scatter>("upc_all_scatter", {dst, src, {}, nbytes, sync_mode, team});
}

upc_coll_handle_t upc_all_gather(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                 upc_flag_t sync_mode) {
  return api::call<operation::gather>("upc_all_gather", {dst, src, {}, nbytes, sync_mode, UPC_TEAM_ALL});
}

upc_coll_handle_t upc_all_gather_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                      upc_flag_t sync_mode, upc_team_t team) {
  return api::call<operation::gather>("upc_all_gather_team", {dst, src, {}, nbytes, sync_mode, team});
}

upc_coll_handle_t upc_all_gather(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                 upc_flag_t sync_mode, upc_team_t team) {
  return api::call<operation::gather>("upc_all_gather", {dst, src, {}, nbytes, sync_mode, team});
}

upc_coll_handle_t upc_all_gather_all(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                     upc_flag_t sync_mode) {
  return api::call<operation::gather_all>("upc_all_gather_all",
                                          {dst, src, {}, nbytes, sync_mode, UPC_TEAM_ALL});
}

upc_coll_handle_t upc_all_gather_all_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                          upc_flag_t sync_mode, upc_team_t team) {
  return api::call<operation::gather_all>("upc_all_gather_all_team", {dst, src, {}, nbytes, sync_mode, team});
}

upc_coll_handle_t upc_all_gather_all(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                     upc_flag_t sync_mode, upc_team_t team) {
  return api::call<operation::gather_all>("upc_all_gather_all", {dst, src, {}, nbytes, sync_mode, team});
}

upc_coll_handle_t upc_all_exchange(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                   upc_flag_t sync_mode) {
  return api::call<operation::exchange>("upc_all_exchange", {dst, src, {}, nbytes, sync_mode, UPC_TEAM_ALL});
}

upc_coll_handle_t upc_all_exchange_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                        upc_flag_t sync_mode, upc_team_t team) {
  return api::call<operation::exchange>("upc_all_exchange_team", {dst, src, {}, nbytes, sync_mode, team});
}

upc_coll_handle_t upc_all_exchange(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                   upc_flag_t sync_mode, upc_team_t team) {
  return api::call<operation::exchange>("upc_all_exchange", {dst, src, {}, nbytes, sync_mode, team});
}

upc_coll_handle_t upc_all_permute(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_shared_ptr_t perm,
                                  size_t nbytes, upc_flag_t sync_mode) {
  return api::call<operation::permute>("upc_all_permute", {dst, src, perm, nbytes, sync_mode, UPC_TEAM_ALL});
}

upc_coll_handle_t upc_all_permute_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_shared_ptr_t perm,
                                       size_t nbytes, upc_flag_t sync_mode, upc_team_t team) {
  return api::call<operation::permute>("upc_all_permute_team", {dst, src, perm, nbytes, sync_mode, team});
}

upc_coll_handle_t upc_all_permute(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_shared_ptr_t perm,
                                  size_t nbytes, upc_flag_t sync_mode, upc_team_t team) {
  return api::call<operation::permute>("upc_all_permute", {dst, src, perm, nbytes, sync_mode, team});
}

} // namespace weft
