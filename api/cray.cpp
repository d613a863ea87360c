#include "api/checks.hpp"
#include "api/implicit_handles.hpp"
#include "api/relocation.hpp"
#include "api/split_barrier.hpp"
#include "api/upc_collective_cray.h"

#include <optional>

namespace weft {
namespace api {
namespace {

using graph::hint;
using graph::sync;

// The number of its threads.
std::uint32_t require_team(runtime& rt, const char* call, cray_upc_team_t team) {
  const std::uint32_t threads = rt.teams().size(team);
  if (threads == 0) [[unlikely]]
    fail(call, "team", std::to_string(team),
         "unknown or freed team: pass CRAY_UPC_TEAM_ALL, CRAY_UPC_TEAM_NODE or what cray_upc_team_split gave "
         "this "
         "thread");
  return threads;
}

// A pointer of the team as one of all threads: what the first thread of the team is there, thread 0 is here.
upc_shared_ptr_t on_first(runtime& rt, const char* call, const char* argument, upc_shared_ptr_t p,
                          cray_upc_team_t team) {
  const std::uint32_t first = rt.teams().thread(team, 0);
  require_not_null(call, argument, p);
  if (p.thread != first) [[unlikely]]
    fail_pointer(call, argument, p, "must have affinity to the thread of rank 0 of the team");
  return {p.addr, 0, p.phase};
}

runtime& check_alltoall(const char* call, upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                        cray_upc_team_t team) {
  runtime& rt = runtime::get(call);
  require_no_split_barrier(call);
  const std::uint32_t threads = require_team(rt, call, team);
  const std::size_t bytes = product(call, "nbytes * threads of the team", nbytes, threads);
  require_symmetric(rt, call, on_first(rt, call, "dst", dst, team), bytes,
                    on_first(rt, call, "src", src, team), bytes);
  return rt;
}

// Complete locally is: my destination is written. So nobody has to be told that it was, and what is pulled
// needs no word of arrival either.
handle post_alltoall(const char* call, upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                     cray_upc_team_t team) {
  runtime& rt = check_alltoall(call, dst, src, nbytes, team);
  return naming(call, [&] {
    const handle h = rt.teams().post(team,
                                     {.op = collectives::operation::exchange,
                                      .in = sync::my,
                                      .out = sync::no,
                                      .direction = hint::pull,
                                      .bytes = nbytes},
                                     {.dst = dst.addr, .src = src.addr});
    rt.teams().await_all_entered(team, h);
    return h;
  });
}

} // namespace
} // namespace api

void cray_upc_team_alltoall(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes, cray_upc_team_t team) {
  constexpr const char* call = "cray_upc_team_alltoall";
  api::runtime& rt = api::check_alltoall(call, dst, src, nbytes, team);
  api::naming(call, [&] {
    rt.teams().run(team,
                   {.op = collectives::operation::exchange,
                    .in = graph::sync::my,
                    .out = graph::sync::all,
                    .bytes = nbytes},
                   {.dst = dst.addr, .src = src.addr});
  });
}

upc_handle_t cray_upc_team_alltoall_nb(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                       cray_upc_team_t team) {
  return api::post_alltoall("cray_upc_team_alltoall_nb", dst, src, nbytes, team);
}

upc_handle_t cray_upc_team_alltoall_nbi(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                        cray_upc_team_t team) {
  api::begin_implicit(api::post_alltoall("cray_upc_team_alltoall_nbi", dst, src, nbytes, team));
  return UPC_COMPLETE_HANDLE;
}

void cray_upc_team_barrier(cray_upc_team_t team) {
  constexpr const char* call = "cray_upc_team_barrier";
  api::runtime& rt = api::runtime::get(call);
  api::require_no_split_barrier(call);
  api::require_team(rt, call, team);
  api::naming(call, [&] { rt.teams().run(team, {}, {}); });
}

upc_handle_t cray_upc_team_barrier_nb(cray_upc_team_t team) {
  constexpr const char* call = "cray_upc_team_barrier_nb";
  api::runtime& rt = api::runtime::get(call);
  api::require_no_split_barrier(call);
  api::require_team(rt, call, team);
  return api::naming(call, [&] { return rt.teams().post(team, {}, {}); });
}

cray_upc_return_t cray_upc_team_split(cray_upc_team_t team, int color, int key, cray_upc_team_t* new_team) {
  constexpr const char* call = "cray_upc_team_split";
  api::runtime& rt = api::runtime::get(call);
  api::require_no_split_barrier(call);
  api::require_team(rt, call, team);
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
  api::runtime& rt = api::runtime::get(call);
  api::require_no_split_barrier(call);
  api::require_team(rt, call, team);
  if (team == CRAY_UPC_TEAM_ALL || team == CRAY_UPC_TEAM_NODE)
    api::fail(call, "team", std::to_string(team), "is always there: free only what cray_upc_team_split made");
  api::naming(call, [&] { rt.teams().free(team); });
}

} // namespace weft
