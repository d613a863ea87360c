// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/calls/collective_call.hpp"
#include "api/checks/checks.hpp"

#include <new>
#include <utility>

namespace weft::api {

// A loop makes the same call again and again, and what has passed the checks once passes them again: they
// look at the arguments, at the bounds of the heap and at the members of the team, which stay as they are. So
// a thread keeps the last call of each kind with what it was to start, and checks another one only if an
// argument differs. Under WEFT_CHECK=1 every call is checked: there the checks look at blocks, which come and
// go.
//
// Arguments have ==, and `team` among them. Ready is what the checks make of them.
template <class Arguments, class Ready> struct last_call {
  Arguments arguments{};
  Ready ready{};
  // In which of the jobs that this process has begun it was made; 0: there was none.
  std::uint32_t job = 0;
};

// This thread's, of one kind. Null for want of memory.
template <auto kind, class Last> class last_call_of_thread {
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
  using last_of_kind = last_call<Arguments, Ready>;
  runtime& rt = runtime::get(name);
  require_no_split_barrier(name);
  last_of_kind* const last = last_call_of_thread<kind, last_of_kind>::get();
  if (last == nullptr) [[unlikely]] {
    const Ready ready = check();
    return start(rt, ready);
  }
  if (last->job == runtime::begun && last->arguments == now) [[likely]] {
    require_team(rt, name, now.team); // it may have been freed
  } else {
    last->job = 0;
    last->ready = check();
    last->arguments = now;
    last->job = block_check::on ? 0 : runtime::begun;
  }
  return start(rt, last->ready);
}

} // namespace weft::api
