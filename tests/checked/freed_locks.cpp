// SPDX-License-Identifier: BSD-3-Clause
// A lock that a thread frees while another thread holds it: freed_locks. What the holder calls then is an
// error that says so, near and far, the first time and every time: upc_lock and upc_lock_attempt in every
// mode, upc_unlock too, between hosts with WEFT_CHECK=1 only. The lock that has its place afterwards is not
// touched by it. And a lock that is there works as without WEFT_CHECK.
//
// Mutations that this catches: an unlock whose answer is not asked for; a holder that believes its own notes;
// a home that takes a lock for the one that was at its place before.
#include "tests/jobs/suite.h"

#include <weft/weft.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

int wrong = 0;
bool checked;

template <class Call> void expect(const char* what, const char* said, Call call) {
  std::string error;
  try {
    call();
  } catch (const weft::error& e) {
    error = e.what();
  }
  if (*said == '\0' ? error.empty() : error.find(said) != std::string::npos) return;
  ++wrong;
  std::fprintf(stderr, "thread %d: %s: WRONG: '%s'\n", MYTHREAD, what, error.c_str());
}

const char* const gone = "is no lock, or was freed";
const char* const not_mine = "is not held by this thread";

// The unlock of a lock that is gone, of a thread that may not reach it.
void unlock_gone(const char* what, upc_lock_t lock) {
  if (checked || upc_cast({lock.addr, lock.thread, 0}) != nullptr)
    expect(what, gone, [&] { upc_unlock(lock); });
}

void freed_while_held(upc_lock_t lock, int holder, int frees) {
  if (MYTHREAD == holder) upc_lock(lock);
  upc_barrier;
  if (MYTHREAD == frees) upc_lock_free(lock);
  upc_barrier;
  if (MYTHREAD == holder) {
    unlock_gone("the first unlock", lock);
    unlock_gone("the second unlock", lock);
    expect("lock behind the unlock", gone, [&] { upc_lock(lock); });
  }
  upc_barrier;
}

void locked_again(upc_lock_t lock, int holder, int frees) {
  if (MYTHREAD == holder) upc_lock(lock);
  upc_barrier;
  if (MYTHREAD == holder) {
    expect("twice", "held by this thread already", [&] { upc_lock(lock); });
    expect("twice", "held by this thread already", [&] { static_cast<void>(upc_lock_attempt(lock)); });
  }
  upc_barrier;
  if (MYTHREAD == frees) upc_lock_free(lock);
  upc_barrier;
  if (MYTHREAD == holder) {
    expect("lock", gone, [&] { upc_lock(lock); });
    expect("attempt", gone, [&] { static_cast<void>(upc_lock_attempt(lock)); });
    unlock_gone("unlock", lock);
  }
  upc_barrier;
}

// Another lock has its place: it is held by a third one, or by the same.
void place_used_again(int home, int holder, int frees) {
  const weft::shared_array<upc_lock_t> names(weft::per_thread(1));
  if (MYTHREAD == home) names[0] = upc_global_lock_alloc();
  upc_barrier;
  const upc_lock_t old = names[0];
  if (MYTHREAD == holder) upc_lock(old);
  upc_barrier;
  if (MYTHREAD == frees) upc_lock_free(old);
  upc_barrier;
  if (MYTHREAD == home) names[0] = upc_global_lock_alloc();
  upc_barrier;
  const upc_lock_t fresh = names[0];
  if (MYTHREAD == frees) upc_lock(fresh);
  upc_barrier;
  if (MYTHREAD == holder) {
    unlock_gone("the place is another's", old);
    expect("lock of the other's place", gone, [&] { upc_lock(old); });
    if (holder != frees) {
      expect("another's", not_mine, [&] { upc_unlock(fresh); });
      if (upc_lock_attempt(fresh) != 0) {
        ++wrong;
        std::fprintf(stderr, "thread %d: WRONG: got a lock that is held\n", MYTHREAD);
      }
    }
  }
  upc_barrier;
  if (MYTHREAD == frees) upc_unlock(fresh);
  upc_barrier;
  upc_lock(fresh);
  upc_unlock(fresh);
  upc_barrier;
  if (MYTHREAD == holder) upc_lock_free(fresh);
  upc_barrier;
}

} // namespace

WEFT_SUITE(freed_locks) {
  const char* const check = std::getenv("WEFT_CHECK");
  checked = check != nullptr && std::strcmp(check, "1") == 0;
  for (int turn = 0; turn < 2 * THREADS; ++turn) {
    const int home = turn % THREADS, holder = (turn + 1 + turn / THREADS) % THREADS;
    const int frees = (holder + THREADS - 1) % THREADS;
    const upc_lock_t one = upc_all_lock_alloc(), other = upc_all_lock_alloc();
    freed_while_held(one, holder, frees);
    locked_again(other, holder, frees);
    place_used_again(home, holder, frees);
  }
  return wrong == 0 ? 0 : 9;
}
