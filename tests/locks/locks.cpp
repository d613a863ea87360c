// SPDX-License-Identifier: BSD-3-Clause
// Locks of all threads: what they protect, who gets them, and what is wrong to do with them.
//
//   locks work N     N turns of each thread at each of a few locks, near and far, taken by both calls
//   locks fair MS US   one lock that all want all the time, for so many milliseconds, and hold for so many
//                    microseconds: no thread is passed by the others more often than the queue allows
//   locks errors     every wrong use
//
// Mutations that this catches: a lock that is granted to two; an unlock that releases nothing; a queue that
// is not served in order; a place of a freed lock that still takes calls.
#include "tests/jobs/suite.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>
#include <weft/weft.hpp>

namespace {

using steady = std::chrono::steady_clock;

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "thread %d: %s\n", MYTHREAD, what.c_str());
  std::_Exit(7);
}

// A number in shared memory that is read and written in two steps.
void add_one(upc_shared_ptr_t number) {
  long value = 0;
  upc_memget(&value, number, sizeof value);
  ++value;
  upc_memput(number, &value, sizeof value);
}
long value_of(upc_shared_ptr_t number) {
  long value = 0;
  upc_memget(&value, number, sizeof value);
  return value;
}

upc_shared_ptr_t on(upc_shared_ptr_t array, int thread) {
  return upc_ptradd(array, 1, sizeof(long), thread);
}

// The locks of other threads come by shared memory, as a hash table's would.
std::vector<upc_lock_t> locks_of_all() {
  const upc_shared_ptr_t names = upc_all_alloc(static_cast<std::size_t>(THREADS), sizeof(upc_lock_t));
  const upc_lock_t mine = upc_global_lock_alloc();
  upc_memput(upc_ptradd(names, 1, sizeof mine, MYTHREAD), &mine, sizeof mine);
  upc_barrier;
  std::vector<upc_lock_t> all(static_cast<std::size_t>(THREADS));
  for (int t = 0; t < THREADS; ++t)
    upc_memget(&all[static_cast<std::size_t>(t)], upc_ptradd(names, 1, sizeof mine, t), sizeof mine);
  upc_barrier;
  upc_all_free(names);
  return all;
}

void take(upc_lock_t lock, int turn) {
  if (turn % 3 == 0) {
    for (int k = 0; k < 50; ++k)
      if (upc_lock_attempt(lock) == 1) return;
  }
  upc_lock(lock);
}

void work(int turns) {
  std::vector<upc_lock_t> locks = locks_of_all();
  locks.push_back(upc_all_lock_alloc());
  const int n = static_cast<int>(locks.size());
  // The number that a lock protects lies on the thread behind its own.
  const upc_shared_ptr_t numbers = upc_all_alloc(static_cast<std::size_t>(n), sizeof(long));
  if (MYTHREAD == 0)
    for (int k = 0; k < n; ++k)
      upc_memset(on(numbers, k), 0, sizeof(long));
  upc_barrier;
  for (int turn = 0; turn < turns; ++turn)
    for (int k = 0; k < n; ++k) {
      const int which = (k + MYTHREAD) % n;
      take(locks[static_cast<std::size_t>(which)], turn);
      add_one(on(numbers, (which + 1) % n));
      upc_unlock(locks[static_cast<std::size_t>(which)]);
    }
  upc_barrier;
  for (int k = 0; k < n; ++k)
    if (const long got = value_of(on(numbers, k)); got != long{turns} * THREADS)
      die("number " + std::to_string(k) + " is " + std::to_string(got));
  upc_barrier;
  upc_all_lock_free(locks.back());
  upc_lock_free(locks[static_cast<std::size_t>((MYTHREAD + 1) % THREADS)]);
}

// How many turns the others have had while a thread waited for its own: as many as its place in the queue
// allows, however much of the cores the thread has. A machine that takes the core between the look and the
// request adds to most, where it is busy; so the waits that it has left alone are judged, a tenth. A lock
// that starves a thread has none. Between hosts a turn is as long as a request needs, which would else come
// behind many turns of the holder's host.
// A wait counts from where its announcement is in the memory of the lock's home: it goes out right before the
// request, so a thread that the system does not run is not taken for one that the queue passes by.
void fair(int milliseconds, int held) {
  const std::vector<upc_lock_t> locks = locks_of_all();
  const upc_lock_t lock = locks[0];
  const auto threads = static_cast<std::size_t>(THREADS), me = static_cast<std::size_t>(MYTHREAD);
  struct entry {
    long granted, passed; // the last wait that ended; turns of others during the present one
  };
  const upc_shared_ptr_t announced = upc_all_alloc(1, threads * sizeof(long));
  const upc_shared_ptr_t table = upc_all_alloc(1, threads * sizeof(entry)); // behind the lock
  const upc_shared_ptr_t counts = upc_all_alloc(threads, 2 * sizeof(long));
  if (MYTHREAD == 0) {
    upc_memset(announced, 0, threads * sizeof(long));
    upc_memset(table, 0, threads * sizeof(entry));
  }
  upc_barrier;
  for (int t = 0, near = held; t < THREADS; ++t)
    if (upc_cast(upc_ptradd(counts, 1, 2 * sizeof(long), t)) == nullptr) held = 40 * near;
  std::vector<long> passed, waits(threads);
  std::vector<entry> all(threads);
  const auto end = steady::now() + std::chrono::milliseconds(milliseconds);
  for (long turn = 1; steady::now() < end || passed.empty(); ++turn) {
    upc_memput_nbi(upc_ptradd(announced, 0, sizeof turn, static_cast<std::ptrdiff_t>(me)), &turn,
                   sizeof turn);
    weft::mutex m(lock);
    const std::lock_guard hold(m);
    upc_memget(waits.data(), announced, threads * sizeof(long));
    upc_memget(all.data(), table, threads * sizeof(entry));
    for (std::size_t t = 0; t < threads; ++t)
      all[t].passed += waits[t] > all[t].granted;
    passed.push_back(std::max(0L, all[me].passed - 1)); // the last one is this one
    all[me] = {turn, 0};
    upc_memput(table, all.data(), threads * sizeof(entry));
    upc_synci();
    for (const auto until = steady::now() + std::chrono::microseconds(held); steady::now() < until;) {
    }
  }
  const std::size_t most = passed.size() * 9 / 10; // of nine waits in ten
  std::ranges::nth_element(passed, passed.begin() + static_cast<std::ptrdiff_t>(most));
  const std::array<long, 2> mine{static_cast<long>(passed.size()), passed[most]};
  upc_memput(upc_ptradd(counts, 1, sizeof mine, MYTHREAD), mine.data(), sizeof mine);
  upc_barrier;
  if (MYTHREAD == 0) {
    long turns = 0, longest = 0;
    upc_memget(all.data(), table, threads * sizeof(entry));
    std::printf("turns, and those of others during a wait:");
    for (int t = 0; t < THREADS; ++t) {
      std::array<long, 2> of{};
      upc_memget(of.data(), upc_ptradd(counts, 1, sizeof of, t), sizeof of);
      std::printf(" %ld/%ld", of[0], of[1]);
      if (all[static_cast<std::size_t>(t)].granted != of[0]) die("the table lacks a turn");
      longest = std::max(longest, of[1]);
      turns += of[0];
    }
    std::printf("  %.2f us a turn\n", milliseconds * 1000.0 / static_cast<double>(turns));
    std::fflush(stdout);
    // Each of the others once, and four times those of the last holder's host past the same waiter.
    if (longest > 5L * THREADS) die("a thread starved");
  }
  upc_barrier;
  upc_lock_free(locks[me]);
}

template <class Call> void expect(const char* what, Call call) {
  try {
    call();
  } catch (const weft::error& e) {
    if (std::strstr(e.what(), what) == nullptr) die(std::string(e.what()) + ": does not say " + what);
    return;
  }
  die(std::string("nothing was thrown: ") + what);
}

void errors() {
  const std::vector<upc_lock_t> locks = locks_of_all();
  const upc_lock_t next = locks[static_cast<std::size_t>((MYTHREAD + 1) % THREADS)];
  const upc_lock_t null = UPC_SHARED_NULL;
  expect("must not be null", [&] { upc_lock(null); });
  expect("must not be null", [&] { upc_lock_attempt(null); });
  expect("must not be null", [&] { upc_unlock(null); });
  upc_lock_free(null);
  upc_all_lock_free(null);
  expect("there is no such thread", [&] { upc_lock({next.addr, static_cast<uint32_t>(THREADS), 1}); });
  expect("is no lock", [&] { upc_lock({next.addr + 8, next.thread, next.phase}); });
  expect("is no lock", [&] { upc_lock(upc_all_alloc(1, 64)); });
  const upc_shared_ptr_t memory = upc_alloc(64);
  upc_memset(memory, 0, 64);
  expect("is no lock", [&] { upc_lock(memory); });
  expect("is no lock", [&] { upc_lock({memory.addr, memory.thread, 1}); });
  expect("is no lock", [&] { upc_unlock({memory.addr, memory.thread, 1}); });
  expect("is no lock", [&] { upc_lock_free({memory.addr, memory.thread, 1}); });
  expect("is a lock: free it with upc_lock_free", [&] { upc_free(next); });
  upc_barrier;

  expect("is not held by this thread", [&] { upc_unlock(next); });
  upc_lock(next);
  expect("is held by this thread already", [&] { upc_lock(next); });
  expect("is held by this thread already", [&] { upc_lock_attempt(next); });
  upc_barrier;
  if (THREADS > 1) {
    const upc_lock_t mine = locks[static_cast<std::size_t>(MYTHREAD)];
    if (upc_lock_attempt(mine) != 0) die("got a lock that another one holds");
    expect("is not held by this thread", [&] { upc_unlock(mine); });
  }
  upc_barrier;
  upc_unlock(next);
  expect("is not held by this thread", [&] { upc_unlock(next); });
  upc_barrier;
  if (upc_lock_attempt(next) != 1) die("no thread holds it");
  upc_lock_free(next); // held: that is allowed
  expect("was freed", [&] { upc_lock(next); });
  expect("was freed", [&] { upc_lock_attempt(next); });
  expect("was freed", [&] { upc_lock_free(next); });
  upc_barrier;
  const upc_lock_t again = upc_global_lock_alloc(); // at the place of one that is gone
  expect("was freed", [&] { upc_lock(next); });
  upc_lock(again);
  upc_unlock(again);
  upc_barrier;

  const upc_lock_t common = upc_all_lock_alloc();
  upc_notify;
  expect("between upc_notify and upc_wait", [&] { upc_all_lock_alloc(); });
  upc_lock(common);
  upc_unlock(common);
  upc_wait();
  upc_barrier;
  expect("with upc_all_lock_free on all", [&] { upc_all_free(common); });
  upc_barrier;
  // Freed while all wait but the one that holds it: they hear of it.
  if (MYTHREAD == 0) upc_lock(common);
  upc_barrier;
  if (MYTHREAD == 0) {
    const auto until = steady::now() + std::chrono::milliseconds(20);
    while (steady::now() < until) {
    }
    upc_lock_free(common);
  } else {
    expect("was freed", [&] { upc_lock(common); });
  }
  upc_barrier;
  expect("was freed", [&] { upc_all_lock_free(common); });
  upc_barrier;
}

} // namespace

WEFT_SUITE(locks) {
  const std::string what = argc > 1 ? argv[1] : "work";
  const int amount = argc > 2 ? std::atoi(argv[2]) : 100;
  if (what == "work")
    work(amount);
  else if (what == "fair")
    fair(amount, argc > 3 ? std::atoi(argv[3]) : 0);
  else if (what == "errors")
    errors();
  return 0;
}
