// One allocation fails, on one thread: the first of a program that uses everything, then the second, and so
// on. The call that it belongs to throws, with nothing started, and is made again; or the work waits a
// little; or the job ends with one line. Never a hang, never std::terminate, never a wrong result.
//
//   shortage sweep thread first step   in one job: from the first-th allocation on, every step-th; prints
//                                      each number before it
//   shortage whole thread n            the n-th of the whole process, weft_init and weft_finalize included;
//                                      0: the first one of each of the threads that the library makes
//
// Mutations that this catches: an entry that is published before everything is there (the others hang), a
// right to drive that is not given back (all hang), anything thrown out of the progress thread.
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
      if (std::strstr(e.what(), "bad_alloc") == nullptr && std::strstr(e.what(), "no room") == nullptr)
        die(e.what());
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
  const cray_upc_team_t team = again([] {
    cray_upc_team_t made = 0;
    if (cray_upc_team_split(CRAY_UPC_TEAM_ALL, MYTHREAD % 2, 0, &made) != CRAY_UPC_SUCCESS) die("no team");
    return made;
  });
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
bool sweep_on(const job& j, int victim, long n, int round) {
  alarm(20);
  if (MYTHREAD == victim) {
    std::printf("allocation %ld\n", n);
    std::fflush(stdout);
  }
  upc_barrier;
  if (MYTHREAD == victim) shortage::fail_allocation(n);
  use_everything(j.b, round);
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

// Many in one job, which knows its plans and has its memory after the first.
void sweep(int victim, long first, long step) {
  const job j;
  int round = 0;
  for (long n = first; !sweep_on(j, victim, n, round++);)
    n += step;
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
