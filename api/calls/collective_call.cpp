#include "api/calls/collective_call.hpp"

#include "api/checks/failure.hpp"

#include <string>

namespace weft::api {

void fail_team(const char* call, std::uint64_t team) {
  fail(call, "team", std::to_string(team),
       "unknown or freed team: pass UPC_TEAM_ALL, CRAY_UPC_TEAM_NODE, or what cray_upc_team_split or "
       "weft_team_from_threads gave this thread");
}

upc_coll_handle_t start(const char* name, runtime& rt, upc_team_t team, const checked_call& call) {
  return naming(name, [&]() -> upc_coll_handle_t {
    if (call.async) return rt.teams().post(team, call.request, call.at);
    rt.teams().run(team, call.request, call.at);
    return UPC_HANDLE_COMPLETE;
  });
}

} // namespace weft::api
