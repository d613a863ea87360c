// SPDX-License-Identifier: BSD-3-Clause
// A program as its user would write it, from the headers alone: large exchanges of all threads are under way
// while small ones of a team, broadcasts and barriers come and go between them. What arrives is checked
// against a formula of who sent what in which round; nothing here knows how it got there.
#include "tests/jobs/suite.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <weft/weft.hpp>

namespace {

constexpr upc_flag_t loose = UPC_IN_MYSYNC | UPC_OUT_MYSYNC, strict = UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC;
constexpr std::size_t large = 96 * 1024 + 8, middle = 80 * 1024;

std::uint64_t said(int from, int to, int round, std::size_t k) {
  return (std::uint64_t(from) * 1'000'003 + std::uint64_t(to) * 7'919 + std::uint64_t(round) * 104'729 + k) *
         0x9E3779B97F4A7C15u;
}

std::uint64_t* mine(upc_shared_ptr_t array, std::size_t bytes_each) {
  return static_cast<std::uint64_t*>(upc_cast(upc_ptradd(array, 1, bytes_each, MYTHREAD)));
}

int wrong = 0;
void expect(std::uint64_t got, std::uint64_t wanted, const char* what, int round) {
  if (got == wanted || wrong++ != 0) return;
  std::printf("thread %d, round %d: %s is %llx and should be %llx\n", MYTHREAD, round, what,
              static_cast<unsigned long long>(got), static_cast<unsigned long long>(wanted));
}

} // namespace

WEFT_SUITE(beside) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 12;
  const int parity = MYTHREAD % 2;
  upc_team_t half;
  cray_upc_team_split(UPC_TEAM_ALL, parity, THREADS - MYTHREAD, &half); // in reverse order
  const int members = cray_upc_team_size(half), me = cray_upc_team_rank(half);

  const std::size_t row = THREADS * large, small_row = THREADS * sizeof(std::uint64_t);
  upc_shared_ptr_t big_src = upc_all_alloc(THREADS, row), big_dst = upc_all_alloc(THREADS, row);
  upc_shared_ptr_t src = upc_all_alloc(THREADS, small_row), dst = upc_all_alloc(THREADS, small_row);
  upc_shared_ptr_t said_by_root = upc_all_alloc(THREADS, middle), heard = upc_all_alloc(THREADS, middle);
  // A team's first thread, on which its arrays begin.
  const int first = parity == 0 ? (THREADS - 1) / 2 * 2 : (THREADS - 2) / 2 * 2 + 1;

  for (int round = 0; round < rounds; ++round) {
    for (int to = 0; to < THREADS; ++to)
      for (const std::size_t k : {std::size_t{0}, large / 16, large / 8 - 1})
        mine(big_src, row)[std::size_t(to) * large / 8 + k] = said(MYTHREAD, to, round, k);
    upc_coll_handle_t under_way = upc_all_exchange(big_dst, big_src, large, loose | UPC_ASYNC);

    for (int call = 0; call < 20; ++call) {
      const int number = round * 100 + call;
      for (int to = 0; to < members; ++to)
        mine(src, small_row)[to] = said(me, to, number, 1);
      upc_all_exchange(upc_ptradd(dst, 1, small_row, first), upc_ptradd(src, 1, small_row, first),
                       sizeof(std::uint64_t), loose, half);
      for (int from = 0; from < members; ++from)
        expect(mine(dst, small_row)[from], said(from, me, number, 1), "a word of the team", number);
      upc_barrier(number); // no thread writes the next before all have read this
    }

    const int root = round % THREADS;
    if (MYTHREAD == root)
      for (std::size_t k = 0; k < middle / 8; ++k)
        mine(said_by_root, middle)[k] = said(root, root, round, k);
    upc_all_broadcast(heard, upc_ptradd(said_by_root, 1, middle, root), middle, strict);
    for (std::size_t k = 0; k < middle / 8; k += 97)
      expect(mine(heard, middle)[k], said(root, root, round, k), "a word of the broadcast", round);

    upc_wait(under_way);
    for (int from = 0; from < THREADS; ++from)
      for (const std::size_t k : {std::size_t{0}, large / 16, large / 8 - 1})
        expect(mine(big_dst, row)[std::size_t(from) * large / 8 + k], said(from, MYTHREAD, round, k),
               "a word of the large exchange", round);
    upc_barrier(round);
  }
  if (wrong != 0) std::printf("thread %d: %d words are wrong\n", MYTHREAD, wrong);
  cray_upc_team_free(half);
  return wrong == 0 ? 0 : 1;
}
