// SPDX-License-Identifier: BSD-3-Clause
// One request to UCX fails, on one thread: the first of a program of everything that makes some, then the
// second, and so on. The call that needed it says so, on every thread that it keeps from being right; others
// go on, and the next barrier and all behind it are as if nothing had happened. Messages that belong to no
// call are sent again.
//
//   requests thread first step refused|exhausted|undone|done
//
// Mutations that this catches: a failed request that counts as done; one that is forgotten (a hang); a
// failure that the others do not hear of (a hang); an answer to another thread that is not sent again (a
// hang).
#include "tests/requests/failing_requests.hpp"

#include <upc.h>
#include <upc_castable.h>
#include <upc_collective_cray.h>
#include <weft/weft.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

namespace {

constexpr std::size_t small = 64, large = 100'000;
constexpr upc_flag_t my = UPC_IN_MYSYNC | UPC_OUT_MYSYNC, all = UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC;
int errors = 0;
std::string last_error;

[[noreturn]] void die(const char* what) {
  std::printf("thread %d: %s\n", MYTHREAD, what);
  std::fflush(stdout);
  std::_Exit(7);
}

template <class Call> void guarded(Call call) {
  try {
    call();
  } catch (const weft::error& e) {
    ++errors;
    last_error = e.what();
  }
}

std::size_t threads() {
  return static_cast<std::size_t>(THREADS);
}

// A destination for each operation: others may still write into that of one that failed here.
constexpr std::size_t destinations = 32;
struct arena {
  upc_shared_ptr_t src = upc_all_alloc(threads(), threads() * large);
  std::array<upc_shared_ptr_t, destinations> dst;
  upc_shared_ptr_t verdict = upc_all_alloc(threads(), sizeof(long));
  upc_shared_ptr_t perm = upc_all_alloc(threads(), sizeof(int));

  arena() {
    for (upc_shared_ptr_t& d : dst)
      d = upc_all_alloc(threads(), threads() * large);
    *static_cast<int*>(upc_cast({perm.addr, static_cast<std::uint32_t>(MYTHREAD), 0})) =
        (MYTHREAD + 1) % THREADS;
  }
};

upc_coll_handle_t start(int which, upc_shared_ptr_t dst, const arena& a, std::size_t n, upc_flag_t mode) {
  switch (which) {
  case 0:
    return upc_all_broadcast(dst, a.src, n, mode);
  case 1:
    return upc_all_scatter(dst, a.src, n, mode);
  case 2:
    return upc_all_gather(dst, a.src, n, mode);
  case 3:
    return upc_all_gather_all(dst, a.src, n, mode);
  case 4:
    return upc_all_permute(dst, a.src, a.perm, n, mode);
  default:
    return upc_all_exchange(dst, a.src, n, mode);
  }
}
constexpr int kinds = 6;

void collectives(const arena& a) {
  std::size_t next = 0;
  for (int which = 0; which != kinds; ++which) {
    guarded([&] { start(which, a.dst[next++], a, small, all); });
    guarded([&] { start(which, a.dst[next++], a, large, my); });
  }
  std::array<upc_coll_handle_t, 2 * kinds> h{};
  for (int k = 0; k != 2 * kinds; ++k)
    guarded([&] {
      h[static_cast<std::size_t>(k)] =
          start(k % kinds, a.dst[next++], a, k < kinds ? small : large, my | UPC_ASYNC);
    });
  for (const upc_coll_handle_t one : h)
    guarded([&] { upc_wait_value(one); });
  guarded([] { upc_barrier(5); });
}

// What asks other threads for something.
void heap_and_teams(upc_shared_ptr_t everywhere) {
  guarded([] { upc_all_alloc(threads(), 100); });
  guarded([&] { upc_all_free(everywhere); });
  upc_shared_ptr_t g{};
  guarded([&] { g = upc_global_alloc(threads(), 1000); });
  const upc_shared_ptr_t of_next{g.addr, static_cast<std::uint32_t>((MYTHREAD + 1) % THREADS), 0};
  char bytes[8] = "1234567";
  if (g.addr != 0) {
    guarded([&] { upc_memput(of_next, bytes, sizeof bytes); });
    guarded([&] { upc_memget(bytes, of_next, sizeof bytes); });
    guarded([&] { upc_memcpy({g.addr + 500, 0, 0}, of_next, sizeof bytes); });
    guarded([&] { upc_free(g); });
  }
  cray_upc_team_t team = 0;
  guarded([&] {
    if (cray_upc_team_split(CRAY_UPC_TEAM_ALL, MYTHREAD % 2, 0, &team) != CRAY_UPC_SUCCESS) die("no team");
  });
  if (team != 0) guarded([&] { cray_upc_team_free(team); });
}

bool exchange_is_right(const arena& a) {
  auto* const mine =
      static_cast<unsigned char*>(upc_cast({a.src.addr, static_cast<std::uint32_t>(MYTHREAD), 0}));
  auto* const got =
      static_cast<unsigned char*>(upc_cast({a.dst[0].addr, static_cast<std::uint32_t>(MYTHREAD), 0}));
  for (std::size_t to = 0; to != threads(); ++to)
    std::memset(mine + to * large, MYTHREAD * 16 + static_cast<int>(to), large);
  upc_all_exchange(a.dst[0], a.src, large, all);
  for (std::size_t from = 0; from != threads(); ++from)
    for (std::size_t k = 0; k != large; ++k)
      if (got[from * large + k] != static_cast<unsigned char>(from * 16 + static_cast<std::size_t>(MYTHREAD)))
        return false;
  return true;
}

// True when this many requests are more than there are.
bool inject(const arena& a, int victim, long n, requests::failure how) {
  alarm(30);
  errors = 0;
  const upc_shared_ptr_t everywhere = upc_all_alloc(threads(), 100);
  upc_barrier;
  if (MYTHREAD == victim) requests::fail_request(n, how);
  collectives(a);
  heap_and_teams(everywhere);
  long over = MYTHREAD == victim && !requests::has_failed() ? 1 : 0;
  if (MYTHREAD == victim) requests::fail_request(0, how);
  upc_barrier;
  if (!exchange_is_right(a)) die("wrong data");
  if (MYTHREAD == victim) upc_memput(a.verdict, &over, sizeof over);
  upc_barrier;
  upc_memget(&over, a.verdict, sizeof over);
  if (over != 0 && errors != 0) die(("an error, and nothing had failed: " + last_error).c_str());
  upc_barrier;
  return over != 0;
}

} // namespace

int main(int argc, char** argv) {
  weft_init(&argc, &argv);
  const int victim = std::atoi(argv[1]) % THREADS;
  const long step = std::atol(argv[3]);
  const requests::failure how = requests::failure_named(argv[4]);
  const bool mine = MYTHREAD == victim;
  long n = std::atol(argv[2]), injections = 0, reported = 0;
  {
    const arena a;
    for (;; n += step) {
      if (mine) {
        std::printf("request %ld\n", n);
        std::fflush(stdout);
      }
      if (inject(a, victim, n, how)) break;
      ++injections;
      reported += errors != 0;
    }
  }
  weft_finalize();
  if (mine)
    std::printf("%ld requests have failed, of which this thread heard %ld times\n", injections, reported);
  return 0;
}
