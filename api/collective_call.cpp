#include "api/collective_call.hpp"

#include "api/failure.hpp"
#include "api/split_barrier.hpp"

#include <string>

namespace weft::api {

void fail_team(const char* call, std::uint64_t team) {
  fail(call, "team", std::to_string(team),
       "unknown or freed team: pass UPC_TEAM_ALL, CRAY_UPC_TEAM_NODE, or what cray_upc_team_split or "
       "weft_team_from_threads gave this thread");
}

collective_call begin_collective(const char* name, const mode& m, upc_team_t team) {
  runtime& rt = runtime::get(name);
  require_no_split_barrier(name);
  return {name, rt, team, m, require_team(rt, name, team)};
}

collective_call begin_collective(const char* name, upc_flag_t sync_mode, upc_team_t team) {
  return begin_collective(name, read_mode(name, sync_mode), team);
}

upc_coll_handle_t collective_call::start(collectives::request r, const graph::binding& at) const {
  r.in = m.in;
  r.out = m.out;
  r.direction = m.direction;
  return naming(name, [&]() -> upc_coll_handle_t {
    if (m.async) return rt.teams().post(team, r, at);
    rt.teams().run(team, r, at);
    return UPC_HANDLE_COMPLETE;
  });
}

} // namespace weft::api
