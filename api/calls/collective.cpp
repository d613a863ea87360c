#include "api/include/upc_collective.h"

#include "api/calls/relocation.hpp"
#include "api/checks/checks.hpp"

// The collectives of V1.0. Each exists for all threads, for a team, and in C++ for a team under its own name.
namespace weft {
namespace api {
namespace {

using collectives::operation;

upc_coll_handle_t broadcast(const collective_call& c, upc_shared_ptr_t dst, upc_shared_ptr_t src,
                            checked nbytes) {
  require_source(c, src);
  bytes_of_all(c, nbytes);
  const std::uint32_t root = require_rooted(c, {"src", src, nbytes}, {"dst", dst, nbytes});
  return c.start({.op = operation::broadcast, .root = root, .bytes = nbytes.plain()},
                 {.dst = dst.addr, .src = src.addr});
}

upc_coll_handle_t scatter(const collective_call& c, upc_shared_ptr_t dst, upc_shared_ptr_t src,
                          checked nbytes) {
  require_source(c, src);
  const checked all = bytes_of_all(c, nbytes);
  const std::uint32_t root = require_rooted(c, {"src", src, all}, {"dst", dst, nbytes});
  return c.start({.op = operation::scatter, .root = root, .bytes = nbytes.plain()},
                 {.dst = dst.addr, .src = src.addr});
}

upc_coll_handle_t gather(const collective_call& c, upc_shared_ptr_t dst, upc_shared_ptr_t src,
                         checked nbytes) {
  require_source(c, src);
  const checked all = bytes_of_all(c, nbytes);
  const std::uint32_t root = require_rooted(c, {"dst", dst, all}, {"src", src, nbytes});
  return c.start({.op = operation::gather, .root = root, .bytes = nbytes.plain()},
                 {.dst = dst.addr, .src = src.addr});
}

// One that has no root, on checked operands.
upc_coll_handle_t symmetric(const collective_call& c, operation op, checked nbytes, bool in_place,
                            upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_shared_ptr_t perm = {}) {
  return c.start({.op = op, .bytes = nbytes.plain(), .in_place = in_place},
                 {.dst = dst.addr, .src = in_place ? dst.addr : src.addr, .perm = perm.addr});
}

upc_coll_handle_t gather_all(const collective_call& c, upc_shared_ptr_t dst, upc_shared_ptr_t src,
                             checked nbytes) {
  const checked all = bytes_of_all(c, nbytes);
  const bool in_place = require_symmetric(c, {"dst", dst, all}, {"src", src, nbytes});
  return symmetric(c, operation::gather_all, nbytes, in_place, dst, src);
}

upc_coll_handle_t exchange(const collective_call& c, upc_shared_ptr_t dst, upc_shared_ptr_t src,
                           checked nbytes) {
  const checked all = bytes_of_all(c, nbytes);
  const bool in_place = require_symmetric(c, {"dst", dst, all}, {"src", src, all});
  return symmetric(c, operation::exchange, nbytes, in_place, dst, src);
}

// An int of each thread, that is read although nothing may be copied, and that is not written.
void require_permutation(const collective_call& c, upc_shared_ptr_t perm, const area& dst) {
  require_first(c, "perm", perm);
  require_aligned(c.name, "perm", perm, alignof(int));
  require_on_all(c, {"perm", perm, sizeof(int)});
  if (overlap({"perm", perm, sizeof(int)}, dst)) [[unlikely]]
    fail_pointer(c.name, "perm", perm, "overlaps dst: pass two areas that have no byte in common");
}

upc_coll_handle_t permute(const collective_call& c, upc_shared_ptr_t dst, upc_shared_ptr_t src,
                          upc_shared_ptr_t perm, checked nbytes) {
  bytes_of_all(c, nbytes);
  const bool in_place = require_symmetric(c, {"dst", dst, nbytes}, {"src", src, nbytes});
  require_permutation(c, perm, {"dst", dst, nbytes});
  return symmetric(c, operation::permute, nbytes, in_place, dst, src, perm);
}

} // namespace
} // namespace api

upc_coll_handle_t upc_all_broadcast(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                    upc_flag_t sync_mode) {
  return api::broadcast(api::begin_collective("upc_all_broadcast", sync_mode, UPC_TEAM_ALL), dst, src,
                        nbytes);
}

upc_coll_handle_t upc_all_broadcast_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                         upc_flag_t sync_mode, upc_team_t team) {
  return api::broadcast(api::begin_collective("upc_all_broadcast_team", sync_mode, team), dst, src, nbytes);
}

upc_coll_handle_t upc_all_broadcast(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                    upc_flag_t sync_mode, upc_team_t team) {
  return api::broadcast(api::begin_collective("upc_all_broadcast", sync_mode, team), dst, src, nbytes);
}

upc_coll_handle_t upc_all_scatter(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                  upc_flag_t sync_mode) {
  return api::scatter(api::begin_collective("upc_all_scatter", sync_mode, UPC_TEAM_ALL), dst, src, nbytes);
}

upc_coll_handle_t upc_all_scatter_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                       upc_flag_t sync_mode, upc_team_t team) {
  return api::scatter(api::begin_collective("upc_all_scatter_team", sync_mode, team), dst, src, nbytes);
}

upc_coll_handle_t upc_all_scatter(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                  upc_flag_t sync_mode, upc_team_t team) {
  return api::scatter(api::begin_collective("upc_all_scatter", sync_mode, team), dst, src, nbytes);
}

upc_coll_handle_t upc_all_gather(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                 upc_flag_t sync_mode) {
  return api::gather(api::begin_collective("upc_all_gather", sync_mode, UPC_TEAM_ALL), dst, src, nbytes);
}

upc_coll_handle_t upc_all_gather_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                      upc_flag_t sync_mode, upc_team_t team) {
  return api::gather(api::begin_collective("upc_all_gather_team", sync_mode, team), dst, src, nbytes);
}

upc_coll_handle_t upc_all_gather(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                 upc_flag_t sync_mode, upc_team_t team) {
  return api::gather(api::begin_collective("upc_all_gather", sync_mode, team), dst, src, nbytes);
}

upc_coll_handle_t upc_all_gather_all(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                     upc_flag_t sync_mode) {
  return api::gather_all(api::begin_collective("upc_all_gather_all", sync_mode, UPC_TEAM_ALL), dst, src,
                         nbytes);
}

upc_coll_handle_t upc_all_gather_all_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                          upc_flag_t sync_mode, upc_team_t team) {
  return api::gather_all(api::begin_collective("upc_all_gather_all_team", sync_mode, team), dst, src, nbytes);
}

upc_coll_handle_t upc_all_gather_all(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                     upc_flag_t sync_mode, upc_team_t team) {
  return api::gather_all(api::begin_collective("upc_all_gather_all", sync_mode, team), dst, src, nbytes);
}

upc_coll_handle_t upc_all_exchange(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                   upc_flag_t sync_mode) {
  return api::exchange(api::begin_collective("upc_all_exchange", sync_mode, UPC_TEAM_ALL), dst, src, nbytes);
}

upc_coll_handle_t upc_all_exchange_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                        upc_flag_t sync_mode, upc_team_t team) {
  return api::exchange(api::begin_collective("upc_all_exchange_team", sync_mode, team), dst, src, nbytes);
}

upc_coll_handle_t upc_all_exchange(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                   upc_flag_t sync_mode, upc_team_t team) {
  return api::exchange(api::begin_collective("upc_all_exchange", sync_mode, team), dst, src, nbytes);
}

upc_coll_handle_t upc_all_permute(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_shared_ptr_t perm,
                                  size_t nbytes, upc_flag_t sync_mode) {
  return api::permute(api::begin_collective("upc_all_permute", sync_mode, UPC_TEAM_ALL), dst, src, perm,
                      nbytes);
}

upc_coll_handle_t upc_all_permute_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_shared_ptr_t perm,
                                       size_t nbytes, upc_flag_t sync_mode, upc_team_t team) {
  return api::permute(api::begin_collective("upc_all_permute_team", sync_mode, team), dst, src, perm, nbytes);
}

upc_coll_handle_t upc_all_permute(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_shared_ptr_t perm,
                                  size_t nbytes, upc_flag_t sync_mode, upc_team_t team) {
  return api::permute(api::begin_collective("upc_all_permute", sync_mode, team), dst, src, perm, nbytes);
}

} // namespace weft
