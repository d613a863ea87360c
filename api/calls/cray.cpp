// SPDX-License-Identifier: BSD-3-Clause
#include "api/calls/collective_call.hpp"
#include "api/calls/copies.hpp"
#include "api/checks/checks.hpp"
#include "api/checks/handle_record.hpp"
#include "include/upc_collective_cray.h"

namespace weft {
namespace api {
namespace {

using graph::hint;
using graph::sync;

constexpr mode complete_everywhere{.in = sync::my, .out = sync::all};

collective_call check_alltoall(const char* call, upc_shared_ptr_t dst, upc_shared_ptr_t src, checked nbytes,
                               cray_upc_team_t team) {
  const collective_call c = begin_collective(call, complete_everywhere, team);
  const checked bytes = product(call, "nbytes * threads of the team", nbytes.plain(), c.threads);
  require_first(c, "dst", dst);
  require_first(c, "src", src);
  require_apart(c, {"dst", dst, bytes}, {"src", src, bytes});
  return c;
}

// Complete locally is: my destination is written. So no rank has to be told that it was, and what is pulled
// needs no word of arrival either.
handle post_alltoall(const char* call, upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                     cray_upc_team_t team) {
  const collective_call c = check_alltoall(call, dst, src, nbytes, team);
  return naming(call, [&] {
    const handle h = c.rt.teams().post(team,
                                       {.op = collectives::operation::exchange,
                                        .in = sync::my,
                                        .out = sync::no,
                                        .direction = hint::pull,
                                        .bytes = nbytes,
                                        .by = collectives::caller::cray_nb},
                                       {.dst = dst.addr, .src = src.addr});
    c.rt.teams().await_all_entered(team, h);
    return handle_record::issued_collective(call, h);
  });
}

} // namespace
} // namespace api

void cray_upc_team_alltoall(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes, cray_upc_team_t team) {
  api::check_alltoall("cray_upc_team_alltoall", dst, src, nbytes, team)
      .start({.op = collectives::operation::exchange, .bytes = nbytes, .by = collectives::caller::cray},
             {.dst = dst.addr, .src = src.addr});
}

upc_handle_t cray_upc_team_alltoall_nb(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                       cray_upc_team_t team) {
  return api::post_alltoall("cray_upc_team_alltoall_nb", dst, src, nbytes, team);
}

upc_handle_t cray_upc_team_alltoall_nbi(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                        cray_upc_team_t team) {
  constexpr const char* call = "cray_upc_team_alltoall_nbi";
  api::naming(call, api::expect_implicit);
  api::begin_implicit(api::post_alltoall(call, dst, src, nbytes, team));
  return UPC_COMPLETE_HANDLE;
}

void cray_upc_team_barrier(cray_upc_team_t team) {
  constexpr const char* call = "cray_upc_team_barrier";
  api::runtime& rt = api::begin_collective(call, api::mode{}, team).rt;
  api::naming(call, [&] { rt.teams().run(team, {.by = collectives::caller::cray}, api::barrier_at_call()); });
}

upc_handle_t cray_upc_team_barrier_nb(cray_upc_team_t team) {
  constexpr const char* call = "cray_upc_team_barrier_nb";
  api::runtime& rt = api::begin_collective(call, api::mode{}, team).rt;
  return api::naming(call, [&] {
    return api::handle_record::issued_collective(
        call, rt.teams().post(team, {.by = collectives::caller::cray}, api::barrier_at_call()));
  });
}

cray_upc_return_t cray_upc_team_split(cray_upc_team_t team, int color, int key, cray_upc_team_t* new_team) {
  constexpr const char* call = "cray_upc_team_split";
  api::runtime& rt = api::begin_collective(call, api::mode{}, team).rt;
  if (new_team == nullptr) api::fail(call, "new_team", "null", "must be the address of a team handle");
  *new_team = api::naming(call, [&] { return rt.teams().split(team, color, key); });
  return *new_team != 0 ? CRAY_UPC_SUCCESS : CRAY_UPC_ERROR;
}

int cray_upc_team_rank(cray_upc_team_t team) {
  constexpr const char* call = "cray_upc_team_rank";
  api::runtime& rt = api::runtime::get(call);
  api::require_team(rt, call, team);
  return static_cast<int>(rt.teams().rank(team));
}

int cray_upc_team_size(cray_upc_team_t team) {
  constexpr const char* call = "cray_upc_team_size";
  return static_cast<int>(api::require_team(api::runtime::get(call), call, team));
}

void cray_upc_team_free(cray_upc_team_t team) {
  constexpr const char* call = "cray_upc_team_free";
  api::runtime& rt = api::begin_collective(call, api::mode{}, team).rt;
  if (team == CRAY_UPC_TEAM_ALL || team == CRAY_UPC_TEAM_NODE)
    api::fail(call, "team", std::to_string(team),
              "is always there: free only what cray_upc_team_split or "
              "weft_team_from_threads made");
  api::naming(call, [&] { rt.teams().free(team); });
}

} // namespace weft
