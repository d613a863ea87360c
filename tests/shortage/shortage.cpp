// SPDX-License-Identifier: BSD-3-Clause
// One allocation fails, on one thread: the first of a program that uses everything, then the second, and so
// on. The call that it belongs to throws, with nothing started, and is made again; or the work waits a
// little; or the job ends with one line. Never a hang, never std::terminate, never a wrong result.
//
//   shortage sweep thread first step   in one job: from the first-th allocation on, every step-th; prints
//                                      each number before it. Then each allocation of single calls
//   shortage whole thread n            the n-th of the whole process, weft_init and weft_finalize included;
//                                      0: the first one of each of the threads that the library makes
//
// Mutations that this catches: an entry that is published before everything is there (the others hang), a
// right to drive that is not given back (all hang), anything thrown out of the progress thread, a call that
// has done its part with the others and fails then (they do not repeat it).
#include "tests/shortage/failing_new.hpp"

#include <upc.h>
#include <upc_castable.h>
#include <upc_collective_cray.h>
#include <weft/weft.hpp>

#include <array>
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>
#include <optional>
#include <unistd.h>

namespace {

constexpr std::size_t small = 64, large = 6000;

[[noreturn]] void die(const char* what) {
  std::printf("thread %d: %s\n", MYTHREAD, what);
  std::fflush(stdout);
  std::_Exit(7);
}

// What failed for want of memory has not begun: once more.
template <class Call> auto again(Call call) {
  for (int tries = 0; tries != 3; ++tries) {
    try {
      return call();
    } catch (const std::bad_alloc&) {
    } catch (const weft::error& e) {
      bool is_shortage = false;
      for (const char* const words : {"bad_alloc", "no room", "no memory"})
        is_shortage |= std::strstr(e.what(), words) != nullptr;
      if (!is_shortage) die(e.what());
    }
  }
  die("one allocation failed, and three calls");
}

struct detached {
  struct promise_type {
    detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() { die("a coroutine threw"); }
  };
};
detached complete_later(upc_coll_handle_t h) {
  weft::pending p(h);
  co_await p;
}

struct buffers {
  upc_shared_ptr_t src, dst;
};

upc_coll_handle_t start(int which, const buffers& b, std::size_t n, upc_flag_t mode) {
  switch (which) {
  case 0:
    return upc_all_broadcast(b.dst, b.src, n, mode);
  case 1:
    return upc_all_scatter(b.dst, b.src, n, mode);
  case 2:
    return upc_all_gather(b.dst, b.src, n, mode);
  case 3:
    return upc_all_gather_all(b.dst, b.src, n, mode);
  default:
    return upc_all_exchange(b.dst, b.src, n, mode);
  }
}
constexpr int kinds = 5;

void use_everything(const buffers& b, int round) {
  constexpr upc_flag_t my = UPC_IN_MYSYNC | UPC_OUT_MYSYNC, all = UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC;
  // Sizes that no plan has been made for yet.
  const std::size_t n = small + 8 * static_cast<std::size_t>(round % 20),
                    m = large + 8 * static_cast<std::size_t>(round % 200);
  for (int which = 0; which != kinds; ++which) {
    again([&] { start(which, b, n, all); });
    again([&] { start(which, b, m, my); });
  }
  std::array<upc_coll_handle_t, 2 * kinds> h{}; // allocates nothing of its own
  for (int which = 0; which != 2 * kinds; ++which)
    h[static_cast<std::size_t>(which)] =
        again([&] { return start(which % kinds, b, which < kinds ? n : m, my | UPC_ASYNC); });
  const int count = 2 * kinds;
  again([&] { upc_waitany(count, h.data()); });
  again([&] { upc_waitsome(count, h.data()); });
  again([&] { upc_waitall(count, h.data()); });
  const upc_coll_handle_t late = again([&] { return start(4, b, m, my | UPC_ASYNC); });
  again([&] { complete_later(late); });
  again([] { weft::run_all(); });
  const upc_shared_ptr_t p = again([] { return upc_all_alloc(static_cast<std::size_t>(THREADS), 100); });
  const upc_shared_ptr_t g = again([] { return upc_global_alloc(static_cast<std::size_t>(THREADS), 100); });
  again([&] { upc_memput(g, "12345678", 8); });
  again([&] { upc_memcpy(p, g, 8); });
  again([&] { upc_free(g); });
  cray_upc_team_t team = 0;
  if (again([&] { return cray_upc_team_split(CRAY_UPC_TEAM_ALL, MYTHREAD % 2, 0, &team); }) ==
      CRAY_UPC_SUCCESS)
    again([&] { cray_upc_team_free(team); });
  again([] { upc_barrier; });
  again([&] { upc_all_free(p); });
}

bool exchange_is_right(const buffers& b) {
  auto* const mine =
      static_cast<unsigned char*>(upc_cast({b.src.addr, static_cast<std::uint32_t>(MYTHREAD), 0}));
  auto* const got =
      static_cast<unsigned char*>(upc_cast({b.dst.addr, static_cast<std::uint32_t>(MYTHREAD), 0}));
  for (int to = 0; to != THREADS; ++to)
    mine[to] = static_cast<unsigned char>(MYTHREAD * 16 + to);
  upc_all_exchange(b.dst, b.src, 1, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  for (int from = 0; from != THREADS; ++from)
    if (got[from] != static_cast<unsigned char>(from * 16 + MYTHREAD)) return false;
  return true;
}

// An exchange with other data each time; on all threads whether it brought what it should.
struct job {
  buffers b{upc_all_alloc(static_cast<std::size_t>(THREADS), static_cast<std::size_t>(THREADS) * 2 * large),
            upc_all_alloc(static_cast<std::size_t>(THREADS), static_cast<std::size_t>(THREADS) * 2 * large)};
  upc_shared_ptr_t verdict = upc_all_alloc(static_cast<std::size_t>(THREADS), sizeof(long));
};

// True when this thread's allocation did not fail any more: then all have.
template <class Calls> bool fails_no_more(const job& j, int victim, long n, const char* what, Calls calls) {
  alarm(20);
  if (MYTHREAD == victim) {
    std::printf("%s %ld\n", what, n);
    std::fflush(stdout);
  }
  upc_barrier;
  if (MYTHREAD == victim) shortage::fail_allocation(n);
  calls();
  long over = MYTHREAD == victim && !shortage::has_failed() ? 1 : 0;
  if (MYTHREAD == victim) shortage::fail_allocation(0);
  upc_barrier;
  if (!exchange_is_right(j.b)) die("wrong data");
  if (MYTHREAD == victim) upc_memput(j.verdict, &over, sizeof over);
  upc_barrier;
  upc_memget(&over, j.verdict, sizeof over);
  upc_barrier;
  return over != 0;
}

// Each thread counts as often as it has the lock.
void count_in_turns(upc_shared_ptr_t counter, upc_lock_t lock) {
  long all = 0;
  again([&] { upc_lock(lock); });
  again([&] { upc_memget(&all, counter, sizeof all); });
  ++all;
  again([&] { upc_memput(counter, &all, sizeof all); });
  again([&] { upc_unlock(lock); });
}

// A lock on each thread in turn, near and far.
void use_locks() {
  const upc_shared_ptr_t counter = again([] { return upc_all_alloc(1, sizeof(long)); });
  long all = 0;
  if (MYTHREAD == 0) upc_memput(counter, &all, sizeof all);
  for (int k = 0; k != THREADS; ++k) {
    const upc_lock_t lock = again([] { return upc_all_lock_alloc(); });
    again([] { upc_barrier; });
    count_in_turns(counter, lock);
    count_in_turns(counter, lock);
    again([] { upc_barrier; });
    again([&] { upc_all_lock_free(lock); });
  }
  const upc_lock_t own = again([] { return upc_global_lock_alloc(); });
  again([&] { upc_lock_free(own); });
  again([&] { upc_memget(&all, counter, sizeof all); });
  if (all != 2L * THREADS * THREADS) die("the threads were in the lock together");
  again([&] { upc_all_free(counter); });
}

// The array, which all threads have, whichever of them lacked memory.
void make_array() {
  std::optional<weft::shared_array<long>> array;
  again([&] { array.emplace(weft::per_thread(3)); });
  again([] { upc_barrier; });
  (*array)[MYTHREAD] = MYTHREAD;
  again([] { upc_barrier; });
  const int next = (MYTHREAD + 1) % THREADS;
  if (static_cast<long>((*array)[next]) != next) die("two threads have different arrays");
  again([] { upc_barrier; });
}

void register_array() {
  static std::array<upc_shared_ptr_t, 1000> arrays;
  static std::size_t count = 0;
  upc_shared_ptr_t& array = arrays.at(count++);
  again([&] { weft_register_shared(&array, 1, sizeof(long), 3, 1); });
  again([] { upc_barrier; });
}

// A team that has no memory on one of its threads is a status on all of these; the next one is there.
void make_teams() {
  cray_upc_team_t team = 0;
  if (again([&] { return cray_upc_team_split(CRAY_UPC_TEAM_ALL, MYTHREAD % 2, 0, &team); }) ==
      CRAY_UPC_SUCCESS) {
    again([&] { cray_upc_team_barrier(team); });
    again([&] { cray_upc_team_free(team); });
  } else if (team != 0) {
    die("a team and no success");
  }
  std::array<int, 64> threads{};
  std::iota(threads.begin(), threads.end(), 0);
  if (again([&] { return weft_team_from_threads(UPC_TEAM_ALL, THREADS, threads.data(), &team); }) == 0) {
    again([&] { cray_upc_team_barrier(team); });
    again([&] { cray_upc_team_free(team); });
  }
}

void reduce_values() {
  if (again([] { return weft::reduce_all(1L, UPC_ADD); }).get() != THREADS) die("a wrong sum");
  const auto add = [](long x, long y) { return x + y; };
  if (again([&] { return weft::prefix_reduce(1L, add); }).get() != MYTHREAD + 1) die("a wrong prefix");
}

// Single calls, whose allocations fail one by one.
void each_call(const job& j, int victim) {
  const auto each = [&](const char* what, auto calls) {
    for (long n = 1; !fails_no_more(j, victim, n, what, calls);)
      ++n;
  };
  each("locks", use_locks);
  each("array", make_array);
  each("registered", register_array);
  each("teams", make_teams);
  each("values", reduce_values);
}

// Many in one job, which knows its plans and has its memory after the first.
void sweep(int victim, long first, long step) {
  const job j;
  int round = 0;
  for (long n = first; !fails_no_more(j, victim, n, "allocation", [&] { use_everything(j.b, round++); });)
    n += step;
  each_call(j, victim);
}

// The job from its beginning to its end. What its start and its end cannot do without memory they say.
int whole_job(int* argc, char*** argv) {
  alarm(20);
  try {
    weft_init(argc, argv);
    const job j = again([] { return job(); });
    use_everything(j.b, 0);
    again([] { upc_barrier; });
    if (!again([&] { return exchange_is_right(j.b); })) die("wrong data");
    weft_finalize();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "shortage: %s; the job ends\n", e.what());
    return 3;
  }
  return 0;
}

int rank_in_job() {
  const char* rank = std::getenv("PMIX_RANK");
  return rank == nullptr ? 0 : std::atoi(rank);
}

} // namespace

int main(int argc, char** argv) {
  const bool whole = argc > 1 && std::strcmp(argv[1], "whole") == 0;
  const int victim = argc > 2 ? std::atoi(argv[2]) : 0;
  const long first = argc > 3 ? std::atol(argv[3]) : 1, step = argc > 4 ? std::atol(argv[4]) : 1;
  if (whole) {
    const bool fails = rank_in_job() == victim;
    if (fails) first == 0 ? shortage::fail_first_of_other_threads() : shortage::fail_allocation(first);
    const int status = whole_job(&argc, &argv);
    if (fails && !shortage::has_failed()) std::printf("all allocations have failed\n");
    return status;
  }
  weft_init(&argc, &argv);
  sweep(victim, first, step);
  const bool mine = MYTHREAD == victim;
  weft_finalize();
  if (mine) std::printf("all allocations have failed\n");
  return 0;
}
