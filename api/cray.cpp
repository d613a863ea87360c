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

void require_team(const char* call, cray_upc_team_t team) {
  if (team != UPC_TEAM_ALL) [[unlikely]]
    fail(call, "team", std::to_string(team), "unknown or freed team: pass CRAY_UPC_TEAM_ALL");
}

runtime& check_alltoall(const char* call, upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                        cray_upc_team_t team) {
  runtime& rt = runtime::get(call);
  require_no_split_barrier(call);
  require_team(call, team);
  const std::size_t all = product(call, "nbytes * THREADS", nbytes, rt.size());
  require_symmetric(rt, call, dst, all, src, all);
  return rt;
}

// Complete locally is: my destination is written. So nobody has to be told that it was, and what is pulled
// needs no word of arrival either.
handle post_alltoall(const char* call, upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                     cray_upc_team_t team) {
  runtime& rt = check_alltoall(call, dst, src, nbytes, team);
  return naming(call, [&] {
    const handle h = rt.post({.op = collectives::operation::exchange,
                              .in = sync::my,
                              .out = sync::no,
                              .direction = hint::pull,
                              .bytes = nbytes},
                             dst.addr, src.addr);
    rt.await_all_entered(h);
    return h;
  });
}

} // namespace
} // namespace api

void cray_upc_team_alltoall(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes, cray_upc_team_t team) {
  constexpr const char* call = "cray_upc_team_alltoall";
  api::runtime& rt = api::check_alltoall(call, dst, src, nbytes, team);
  api::naming(call, [&] {
    rt.run({.op = collectives::operation::exchange,
            .in = graph::sync::my,
            .out = graph::sync::all,
            .bytes = nbytes},
           dst.addr, src.addr);
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
  api::require_team(call, team);
  api::naming(call, [&] { rt.run_barrier(std::nullopt); });
}

} // namespace weft
