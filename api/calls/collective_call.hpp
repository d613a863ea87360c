// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/calls/split_barrier.hpp"
#include "api/checks/checks.hpp"
#include "api/checks/failure.hpp"
#include "api/checks/handle_record.hpp"
#include "api/runtime/runtime.hpp"
#include "engine/plan/plan.hpp"
#include "engine/plan/task.hpp"
#include "include/weft/types.h"

#include <cstdint>

namespace weft::api {

// What the flags of a collective say, or would say where it has none.
struct mode {
  graph::sync in = graph::sync::all, out = graph::sync::all;
  graph::hint direction = graph::hint::none;
  bool async = false;
  bool in_place = false;
  bool exclusive = false;    // prefix reductions
  bool reproducible = false; // reductions
};

// Errors: two IN or two OUT modes, an unknown flag. `more`: flags that this call has besides those of all.
mode read_mode(const char* call, upc_flag_t flags, upc_flag_t more = UPC_IN_PLACE);

// What a call says with this error where it names a team.
[[noreturn, gnu::cold, gnu::noinline]] void fail_team(const char* call, std::uint64_t team);

// The number of the team's threads.
inline std::uint32_t require_team(runtime& rt, const char* call, upc_team_t team) {
  const std::uint32_t threads = team == team_calls::all ? rt.size() : rt.teams().size(team);
  if (threads == 0) [[unlikely]]
    fail_team(call, team);
  return threads;
}

// Checked mode: where the call that the thread is in stands.
[[gnu::cold, gnu::noinline]] std::uint32_t place_in_program();

inline graph::binding barrier_at_call() {
  return {.from = block_check::on ? place_in_program() : 0};
}

// What a call is to start, once its arguments have been checked.
struct checked_call {
  collectives::request request;
  graph::binding at;
  bool async = false;
};

// The same with the task that it is to compute; `call` names no other.
template <class Task> struct checked_computation {
  checked_call call;
  Task task;
};

// Runs it, or posts it and returns the handle.
[[gnu::always_inline]] inline upc_coll_handle_t start(const char* name, runtime& rt, upc_team_t team,
                                                      const checked_call& call) {
  return naming(name, [&]() -> upc_coll_handle_t {
    if (call.async) return handle_record::issued(name, rt.teams().post(team, call.request, call.at));
    rt.teams().run(team, call.request, call.at);
    return UPC_HANDLE_COMPLETE;
  });
}
template <class Task>
upc_coll_handle_t start(const char* name, runtime& rt, upc_team_t team,
                        const checked_computation<Task>& computation) {
  checked_call call = computation.call;
  call.at.task = &computation.task;
  return start(name, rt, team, call);
}

// A collective call, on its way from the checks that all of them share to its start.
struct collective_call {
  const char* name;
  runtime& rt;
  team_calls::team team;
  mode m;
  std::uint32_t threads; // of the team

  bool of_all() const { return team == team_calls::all; }
  // The thread of rank 0 of the team.
  std::uint32_t first() const { return of_all() ? 0 : rt.teams().thread(team, 0); }
  // The rank in the team; `threads` or more for a thread that is no member.
  std::uint32_t rank(std::uint32_t thread) const {
    return of_all() ? thread : rt.teams().member(team, thread);
  }

  checked_call ready(collectives::request r, const graph::binding& at) const {
    r.in = m.in;
    r.out = m.out;
    r.direction = m.direction;
    checked_call all{r, at, m.async};
    if (block_check::on) [[unlikely]]
      all.at.from = place_in_program();
    return all;
  }
  upc_coll_handle_t start(const collectives::request& r, const graph::binding& at) const {
    return api::start(name, rt, team, ready(r, at));
  }
};

// Errors: before weft_init, between upc_notify and upc_wait, unknown or freed team, flags.
[[gnu::always_inline]] inline collective_call begin_collective(const char* name, mode m, upc_team_t team) {
  runtime& rt = runtime::get(name);
  require_no_split_barrier(name);
  return {name, rt, team, m, require_team(rt, name, team)};
}
[[gnu::always_inline]] inline collective_call begin_collective(const char* name, upc_flag_t sync_mode,
                                                               upc_team_t team) {
  return begin_collective(name, read_mode(name, sync_mode), team);
}

// What a call says that takes the root's rank as a number, and got one of no member.
[[noreturn, gnu::cold, gnu::noinline]] void fail_root_rank(const collective_call& c, int root);
inline void require_root_rank(const collective_call& c, int root) {
  if (root < 0 || static_cast<std::uint32_t>(root) >= c.threads) [[unlikely]]
    fail_root_rank(c, root);
}

// What is kept for an operation: one that is posted gives it up when it is over, unless it is not begun; for
// a call that waits it is given up when the call ends, however that is.
class kept_function {
public:
  kept_function(graph::task& t, bool async) : task_(t), release_(t.release) {
    if (!async) t.release = nullptr;
    async_ = async;
  }
  kept_function(const kept_function&) = delete;
  kept_function& operator=(const kept_function&) = delete;
  ~kept_function() {
    if (!handed_on_ && release_ != nullptr) release_(task_);
  }
  void hand_on() { handed_on_ = async_; }

private:
  const graph::task& task_;
  void (*release_)(const graph::task&);
  bool async_ = false, handed_on_ = false;
};

} // namespace weft::api
