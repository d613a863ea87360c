// SPDX-License-Identifier: BSD-3-Clause
// Teams made by cray_upc_team_split: who is in them and at which rank, all-to-all and barriers on them while
// other teams have operations in flight, thousands made and freed in turn, and what a freed one says.
//
//   teams          all that
//   teams freed    teams freed while their operations are under way: who is through with its own part still
//                  answers those who are not. A library in which it forgets the team at once hangs here.
#include "tests/jobs/suite.h"

#include <upc.h>
#include <upc_castable.h>
#include <upc_collective.h>
#include <upc_collective_cray.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <weft/weft.hpp>

namespace {

int failures = 0;
void expect(bool ok, const char* what) {
  if (ok) return;
  std::printf("thread %d of %d: %s\n", int(MYTHREAD), int(THREADS), what);
  ++failures;
}

unsigned char value(int round, int from, int to) {
  return static_cast<unsigned char>(round * 17 + from * 5 + to);
}

// One all-to-all of a team over memory that every thread has; every member checks what it got.
struct area {
  static constexpr std::size_t room = 1 << 16;
  upc_shared_ptr_t src = upc_all_alloc(THREADS, room), dst = upc_all_alloc(THREADS, room);

  unsigned char* mine(upc_shared_ptr_t p) const {
    return static_cast<unsigned char*>(upc_cast(upc_ptradd(p, 1, room, MYTHREAD)));
  }
  void fill(cray_upc_team_t team, int round, std::size_t n) const {
    for (int to = 0; to < cray_upc_team_size(team); ++to)
      for (std::size_t at = 0; at < n; ++at)
        mine(src)[static_cast<std::size_t>(to) * n + at] = value(round, cray_upc_team_rank(team), to);
  }
  void check(cray_upc_team_t team, int round, std::size_t n, const char* what) const {
    bool ok = true;
    for (int from = 0; from < cray_upc_team_size(team); ++from)
      for (std::size_t at = 0; at < n; ++at)
        ok = ok && mine(dst)[static_cast<std::size_t>(from) * n + at] ==
                       value(round, from, cray_upc_team_rank(team));
    expect(ok, what);
  }
};

// The same place on the first thread of a team.
upc_shared_ptr_t on(upc_shared_ptr_t p, int thread) {
  return upc_ptradd(p, 1, area::room, thread);
}

void membership() {
  const int half = MYTHREAD % 2;
  cray_upc_team_t team = 0;
  expect(cray_upc_team_split(CRAY_UPC_TEAM_ALL, half, -MYTHREAD, &team) == CRAY_UPC_SUCCESS, "split");
  const int size = (THREADS + 1 - half) / 2;
  expect(cray_upc_team_size(team) == size, "size of a half");
  expect(cray_upc_team_rank(team) == size - 1 - MYTHREAD / 2, "ranks by falling thread");
  cray_upc_team_t same = 0;
  cray_upc_team_split(team, 7, 0, &same); // equal keys: the parent's order
  expect(cray_upc_team_rank(same) == cray_upc_team_rank(team) && same != team, "equal keys keep the order");
  cray_upc_team_free(same);
  cray_upc_team_free(team);
  try {
    cray_upc_team_size(team);
    expect(false, "a freed team is recognised");
  } catch (const weft::error& e) {
    expect(e.argument == "team", "a freed team is recognised by its argument");
  }
  expect(cray_upc_team_size(CRAY_UPC_TEAM_NODE) >= 1 && cray_upc_team_size(CRAY_UPC_TEAM_NODE) <= THREADS,
         "the node's team");
  cray_upc_team_barrier(CRAY_UPC_TEAM_NODE);
}

void all_to_all(const area& a) {
  const int half = MYTHREAD % 2;
  cray_upc_team_t team = 0;
  cray_upc_team_split(CRAY_UPC_TEAM_ALL, half, MYTHREAD, &team);
  int round = 0;
  for (const std::size_t n : {std::size_t{8}, std::size_t{700}, std::size_t{5000}})
    for (int repeat = 0; repeat < 6; ++repeat, ++round) {
      a.fill(team, round, n);
      cray_upc_team_alltoall(on(a.dst, half), on(a.src, half), n, team);
      a.check(team, round, n, "blocking all-to-all of a half");
      cray_upc_team_barrier(team);
      a.fill(team, round + 100, n);
      const upc_handle_t h = cray_upc_team_alltoall_nb(on(a.dst, half), on(a.src, half), n, team);
      upc_sync(h);
      a.check(team, round + 100, n, "all-to-all of a half");
      cray_upc_team_barrier(team);
    }
  cray_upc_team_free(team);
}

// A team lives and dies while an operation of all threads is in flight.
void beside_others(const area& a, const area& other) {
  for (int round = 0; round < 8; ++round) {
    const std::size_t n = 3000;
    other.fill(CRAY_UPC_TEAM_ALL, round, n);
    upc_coll_handle_t h =
        upc_all_exchange(other.dst, other.src, n, UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
    cray_upc_team_t pair = 0;
    cray_upc_team_split(CRAY_UPC_TEAM_ALL, MYTHREAD / 2, MYTHREAD, &pair);
    const int first = MYTHREAD / 2 * 2;
    a.fill(pair, round, 64);
    cray_upc_team_alltoall(on(a.dst, first), on(a.src, first), 64, pair);
    a.check(pair, round, 64, "all-to-all of a pair beside one of all");
    cray_upc_team_free(pair);
    upc_wait(h);
    other.check(CRAY_UPC_TEAM_ALL, round, n, "exchange of all beside that of pairs");
    upc_barrier();
  }
}

// One after the other; 1,000 are far more than there is memory for at once.
void many_in_turn(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    cray_upc_team_t team = 0;
    expect(cray_upc_team_split(CRAY_UPC_TEAM_ALL, round % 3 == MYTHREAD % 3, 0, &team) == CRAY_UPC_SUCCESS,
           "one more team");
    if (round % 16 == 0) cray_upc_team_barrier(team);
    cray_upc_team_free(team);
    if (failures != 0) return;
  }
}

// One element for each thread of an array in shared memory, and this thread's.
template <class T> struct column {
  upc_shared_ptr_t all = upc_all_alloc(THREADS, sizeof(T));
  T& mine() const { return *static_cast<T*>(upc_cast(upc_ptradd(all, 1, sizeof(T), MYTHREAD))); }
};

// A scatter by rows: the root has to ask the others what they want, who get it without the root's help.
struct rows {
  column<upc_shared_ptr_t> dst, src;
  column<std::size_t> nbytes;

  void describe(const area& a, int root, int rank, std::size_t n) const {
    dst.mine() = on(a.dst, MYTHREAD);
    src.mine() = on(a.src, root);
    src.mine().addr += static_cast<std::uint64_t>(rank) * n;
    nbytes.mine() = n;
  }
  upc_coll_handle_t post(upc_team_t team, upc_flag_t mode) const {
    return upc_all_scatter_x(dst.all, src.all, nbytes.all, mode | UPC_ASYNC, team);
  }
};

// The threads with the same remainder, in falling order: members on every node.
int apart(int threads) {
  return threads < 4 ? 1 : threads / 2;
}

void freed_while_needed(const area& a, const rows& r, int rounds) {
  constexpr upc_flag_t in[] = {UPC_IN_ALLSYNC, UPC_IN_MYSYNC, UPC_IN_NOSYNC};
  constexpr upc_flag_t out[] = {UPC_OUT_ALLSYNC, UPC_OUT_MYSYNC, UPC_OUT_NOSYNC};
  const int color = MYTHREAD % apart(THREADS);
  const int members = (THREADS - color + apart(THREADS) - 1) / apart(THREADS);
  for (int round = 0; round < rounds && failures == 0; ++round) {
    const std::size_t n = round % 2 == 0 ? 40 : 6000;
    const int root_rank = round / 9 % members, root = color + (members - 1 - root_rank) * apart(THREADS);
    upc_team_t team = 0;
    cray_upc_team_split(UPC_TEAM_ALL, color, -MYTHREAD, &team);
    const int mine = cray_upc_team_rank(team);
    a.fill(team, round, n);
    r.describe(a, root, mine, n);
    upc_barrier();
    upc_coll_handle_t h = r.post(team, in[round % 3] | out[round / 3 % 3]);
    cray_upc_team_free(team);
    upc_wait(h);
    upc_barrier(); // not every thread's block need be there before
    bool ok = true;
    for (std::size_t at = 0; at < n; ++at)
      ok = ok && a.mine(a.dst)[at] == value(round, root_rank, mine);
    expect(ok, "scatter by rows of a team that was freed meanwhile");
    upc_barrier();
  }
}

} // namespace

WEFT_SUITE(teams) {
  {
    const area a, other;
    const rows r;
    upc_barrier();
    if (argc > 1 && std::strcmp(argv[1], "freed") == 0) {
      freed_while_needed(a, r, argc > 2 ? std::atoi(argv[2]) : 180);
    } else {
      membership();
      all_to_all(a);
      beside_others(a, other);
      many_in_turn(argc > 1 ? std::atoi(argv[1]) : 1000);
    }
  }
  if (MYTHREAD == 0 && failures == 0) std::printf("teams are right\n");
  return failures == 0 ? 0 : 1;
}
