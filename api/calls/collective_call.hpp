// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/checks/checks.hpp"
#include "api/checks/failure.hpp"
#include "api/checks/handle_record.hpp"
#include "api/runtime/runtime.hpp"
#include "engine/plan/plan.hpp"
#include "engine/plan/task.hpp"
#include "include/weft/completion.h"
#include "include/weft/types.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

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
    if (call.async)
      return handle_record::issued_collective(name, rt.teams().post(team, call.request, call.at));
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
  // Several that are one to the program.
  upc_coll_handle_t post(std::span<const collectives::bound_request> series) const {
    return naming(name,
                  [&] { return handle_record::issued_collective(name, rt.teams().post(team, series)); });
  }
  // What the call returns that has posted them: a blocking one waits.
  upc_coll_handle_t posted(upc_coll_handle_t h) const {
    if (m.async) return h;
    upc_waitall(1, &h);
    return UPC_HANDLE_COMPLETE;
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

// The checks of the operands of the relocalization operations whose blocks lie at the same place on every
// thread of the team. They stand before every small operation, which takes a few hundred instructions itself:
// what succeeds is inlined into the calls, and what fails is elsewhere.

// One operand: what is there on each thread that has a part in it.
struct area {
  const char* argument;
  upc_shared_ptr_t at;
  checked bytes;
};

// How they fail.
[[noreturn, gnu::cold, gnu::noinline]] void fail_first(const collective_call& c, const char* argument,
                                                       upc_shared_ptr_t p);
[[noreturn, gnu::cold, gnu::noinline]] void fail_overlap(const collective_call& c, const area& dst);
[[noreturn, gnu::cold, gnu::noinline]] void fail_other_source(const collective_call& c, upc_shared_ptr_t src);
[[noreturn, gnu::cold, gnu::noinline]] void fail_same(const collective_call& c, upc_shared_ptr_t src);
[[noreturn, gnu::cold, gnu::noinline]] void fail_source(const collective_call& c, upc_shared_ptr_t src);
[[noreturn, gnu::cold, gnu::noinline]] void fail_outsider(const collective_call& c, const area& of_root);
[[noreturn, gnu::cold, gnu::noinline]] void fail_rooted_overlap(const collective_call& c, const area& of_root,
                                                                const area& tied);

// In every word; upc_ptreq does not look at the phase.
inline bool is_same(upc_shared_ptr_t a, upc_shared_ptr_t b) {
  return a.addr == b.addr && a.thread == b.thread && a.phase == b.phase;
}

// What is passed for src in place.
inline bool is_in_place_mark(upc_shared_ptr_t p) {
  return is_same(p, UPC_IN_PLACE_SRC);
}

// Whether two areas have a byte in common; they are in the heap, or one is empty.
inline bool overlap(const area& a, const area& b) {
  return a.bytes != 0 && b.bytes != 0 && a.at.addr < b.at.addr + b.bytes && b.at.addr < a.at.addr + a.bytes;
}

// nbytes for each thread of the team.
inline checked bytes_of_all(const collective_call& c, checked nbytes) {
  return product(c.name, c.of_all() ? "nbytes * THREADS" : "nbytes * threads of the team", nbytes.plain(),
                 c.threads);
}

// Tied to thread 0: to the thread of rank 0 of the team.
inline void require_first(const collective_call& c, const char* argument, upc_shared_ptr_t p) {
  require_not_null(c.name, argument, p);
  if (p.thread != c.first()) [[unlikely]]
    fail_first(c, argument, p);
}

// Of an operand that has a part on every thread of the team, all at the same place.
inline void require_on_all(const collective_call& c, const area& a) {
  require_symmetric_range(c.rt, c.name, a.argument, a.at, a.bytes);
}

// No byte in common; nothing is asked where there is nothing to copy.
inline void require_apart(const collective_call& c, const area& dst, const area& src) {
  if (dst.bytes == 0) return;
  require_on_all(c, dst);
  require_on_all(c, src);
  if (overlap(dst, src)) [[unlikely]]
    fail_overlap(c, dst);
}

// Whether the call says that it is in place, and means it: src is null or dst.
inline bool in_place(const collective_call& c, upc_shared_ptr_t dst, upc_shared_ptr_t src) {
  if (is_in_place_mark(src)) return true;
  if (!c.m.in_place) return false;
  if (!upc_isnull(src) && !upc_ptreq(src, dst)) [[unlikely]]
    fail_other_source(c, src);
  return true;
}

// Not in place, and not written as if it were.
inline void require_not_same(const collective_call& c, upc_shared_ptr_t dst, upc_shared_ptr_t src) {
  if (upc_ptreq(src, dst)) [[unlikely]]
    fail_same(c, src);
}

// dst and src of exchange, gather_all and permute. True: in place, and src is dst.
[[gnu::always_inline]] inline bool require_symmetric(const collective_call& c, const area& dst,
                                                     const area& src) {
  require_first(c, dst.argument, dst.at);
  if (in_place(c, dst.at, src.at)) {
    if (dst.bytes != 0) require_on_all(c, dst);
    return true;
  }
  require_first(c, src.argument, src.at);
  if (dst.bytes != 0) require_not_same(c, dst.at, src.at);
  require_apart(c, dst, src);
  return false;
}

// src of an operation that needs it even in place.
inline void require_source(const collective_call& c, upc_shared_ptr_t src) {
  if (is_in_place_mark(src) || (c.m.in_place && upc_isnull(src))) [[unlikely]]
    fail_source(c, src);
  require_not_null(c.name, "src", src);
}

// The rank of the root, on whose thread the operand lies.
inline std::uint32_t require_root(const collective_call& c, const area& of_root) {
  require_thread(c.rt, c.name, of_root.argument, of_root.at.thread);
  const std::uint32_t root = c.rank(of_root.at.thread);
  if (root >= c.threads) [[unlikely]]
    fail_outsider(c, of_root);
  return root;
}

// The operand with affinity to the root, and the one that is tied to thread 0: the root's rank. In place the
// root's own block may be the same in both.
[[gnu::always_inline]] inline std::uint32_t require_rooted(const collective_call& c, const area& of_root,
                                                           const area& tied) {
  require_first(c, tied.argument, tied.at);
  require_not_null(c.name, of_root.argument, of_root.at);
  const std::uint32_t root = require_root(c, of_root);
  if (tied.bytes == 0) return root;
  require_range(c.rt, c.name, of_root.argument, of_root.at, of_root.bytes);
  require_on_all(c, tied);
  const checked before_own = of_root.bytes == tied.bytes ? checked() : tied.bytes * root;
  const bool coincide = of_root.at.addr + before_own == tied.at.addr;
  if (overlap(of_root, tied) && !(c.m.in_place && coincide)) [[unlikely]]
    fail_rooted_overlap(c, of_root, tied);
  return root;
}

// A loop makes the same calls again and again, with one buffer or with a few in turn, and what has passed the
// checks once passes them again: they look at the arguments, at the bounds of the heap and at the members of
// the team, which stay as they are. So a thread keeps the last calls of each kind with what they were to
// start, and checks another one only if an argument differs. Under WEFT_CHECK=1 every call is checked: there
// the checks look at blocks, which come and go.
//
// Arguments have ==, and `team` among them. Ready is what the checks make of them.
template <class Arguments, class Ready> struct last_calls {
  struct call {
    Arguments arguments{};
    Ready ready{};
    // In which of the jobs that this process has begun it was made; 0: there was none.
    std::uint32_t job = 0;

    bool is(const Arguments& now) const { return job == runtime::begun && arguments == now; }
  };
  last_calls() = default;
  last_calls(const last_calls&) = delete;

  // Null if none of them has these arguments.
  [[gnu::always_inline]] const Ready* find(const Arguments& now) {
    return last->is(now) ? &last->ready : find_before(now);
  }
  template <class Check> const Ready* add(const Arguments& now, Check&& check) {
    call& c = *(last = next(last));
    c.job = 0;
    c.ready = check();
    c.arguments = now;
    c.job = block_check::on ? 0 : runtime::begun;
    return &c.ready;
  }

private:
  [[gnu::noinline]] const Ready* find_before(const Arguments& now) {
    for (call* c = next(last); c != last; c = next(c))
      if (c->is(now)) return &(last = c)->ready;
    return nullptr;
  }
  call* next(call* c) { return c == &calls.back() ? calls.data() : c + 1; }

  std::array<call, 4> calls{};
  call* last = calls.data();
};

// This thread's, of one kind. Null for want of memory.
template <auto kind, class Last> class last_calls_of_thread {
public:
  static Last* get() {
    if (kept == nullptr) [[unlikely]]
      make();
    return kept;
  }

private:
  // A pointer, since a library that is loaded at run time has little room for what a thread reaches at once.
  [[gnu::tls_model("initial-exec")]] static inline thread_local constinit Last* kept = nullptr;

  [[gnu::cold, gnu::noinline]] static void make() {
    struct end_of_thread {
      ~end_of_thread() { delete std::exchange(kept, nullptr); }
    };
    static thread_local end_of_thread deletes;
    static_cast<void>(&deletes);
    kept = new (std::nothrow) Last;
  }
};

// Makes `ready` of the arguments, by check(), or takes what was made of the same; returns start(runtime,
// ready).
template <auto kind, class Ready, class Arguments, class Check, class Start>
[[gnu::always_inline]] inline auto start_checked(const char* name, const Arguments& now, Check&& check,
                                                 Start&& start) {
  using calls_of_kind = last_calls<Arguments, Ready>;
  runtime& rt = runtime::get(name);
  require_no_split_barrier(name);
  calls_of_kind* const calls = last_calls_of_thread<kind, calls_of_kind>::get();
  if (calls == nullptr) [[unlikely]] {
    const Ready ready = check();
    return start(rt, ready);
  }
  const Ready* ready = calls->find(now);
  if (ready != nullptr) [[likely]]
    require_team(rt, name, now.team); // it may have been freed
  else
    ready = calls->add(now, check);
  return start(rt, *ready);
}

} // namespace weft::api
