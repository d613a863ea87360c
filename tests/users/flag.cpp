// SPDX-License-Identifier: BSD-3-Clause
// A program as its user would write it: each thread in turn posts, and then looks at a flag of its own until
// the next thread, which has completed the same operation, sets it: by element reads, by strict atomic
// operations and through a plain pointer. It waits for nothing else, and ends.
//
//   flag ROUNDS
//
// Mutations that this catches: a rank that is away and is rung for nothing (rings none, claimed blocks).
#include "tests/jobs/suite.h"

#include <cstdio>
#include <cstdlib>
#include <weft/weft.hpp>

namespace {

constexpr std::size_t per_rank = 1024;

enum class look { element, atomic, pointer };
constexpr look looks[] = {look::element, look::atomic, look::pointer};

struct flags {
  weft::shared_array<long> raised{weft::per_thread(1)};
  weft::atomic_domain<long> strict{weft::atomic_domain<long>::order::strict};

  bool is_up(look how, int round) const {
    const auto mine = static_cast<std::size_t>(MYTHREAD);
    switch (how) {
    case look::element:
      return raised[mine] >= round;
    case look::atomic:
      return strict.get(&raised[mine]) >= round;
    default:
      return *static_cast<const volatile long*>(upc_cast(&raised[mine])) >= round;
    }
  }
};

} // namespace

WEFT_SUITE(flag) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 10;
  const auto threads = static_cast<std::size_t>(THREADS), me = static_cast<std::size_t>(MYTHREAD);
  flags flag;
  using array = weft::shared_array<long, weft::dynamic_block>;
  array src(weft::extent(per_rank), weft::per_thread(per_rank)),
      dst(weft::extent(per_rank), weft::per_thread(per_rank));
  weft::shared_array<long> sums(weft::per_thread(1));
  const auto mine = [&](array& a) {
    return static_cast<long*>(upc_cast(a + static_cast<std::ptrdiff_t>(me * per_rank)));
  };
  const std::size_t block = per_rank / threads * sizeof(long);
  int wrong = 0, round = 0;
  for (int turn = 0; turn != rounds; ++turn)
    for (const look how : looks)
      for (int operation = 0; operation != 3; ++operation) {
        ++round;
        for (std::size_t k = 0; k != per_rank; ++k) // descending over all threads
          mine(src)[k] = static_cast<long>((threads - me) * per_rank - k) + round;
        const int poster = round % THREADS;
        const upc_coll_handle_t posted =
            operation == 0   ? weft::upc_all_reduce_all(sums, src, UPC_ADD, src.size(), UPC_ASYNC)
            : operation == 1 ? weft::upc_all_sort(src, src.size(), UPC_ASYNC)
                             : upc_all_exchange(dst, src, block, UPC_ASYNC);
        if (MYTHREAD == poster && THREADS > 1)
          while (!flag.is_up(how, round)) {
          }
        upc_wait(posted);
        if (MYTHREAD == (poster + 1) % THREADS) flag.raised[static_cast<std::size_t>(poster)] = round;
        const auto all = static_cast<long>(threads * per_rank);
        if (operation == 0) wrong += sums[me] != all * (all + 1) / 2 + all * round;
        if (operation == 1)
          for (std::size_t k = 0; k != per_rank; ++k)
            wrong += mine(src)[k] != static_cast<long>(me * per_rank + k) + 1 + round;
        if (operation == 2)
          for (std::size_t from = 0; from != threads; ++from)
            wrong += mine(dst)[from * (block / sizeof(long))] !=
                     static_cast<long>((threads - from) * per_rank - me * (block / sizeof(long))) + round;
        upc_barrier;
      }
  flag.strict.free();
  if (wrong != 0) std::printf("thread %d: %d wrong\n", int(MYTHREAD), wrong);
  return wrong == 0 ? 0 : 1;
}
