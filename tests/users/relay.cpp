// SPDX-License-Identifier: BSD-3-Clause
// A program as its user would write it: several threads of each process take turns in calling collectives of
// all, in the same order everywhere, and each completes what the one before it has posted, while the others
// go on. Blocking calls, posts and barriers are mixed; a thread that has had its turn waits or tests at once,
// so that another thread is usually driving when the next one posts.
#include "tests/jobs/suite.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>
#include <weft/weft.hpp>

namespace {

constexpr int callers = 3;
constexpr upc_flag_t mode = UPC_IN_MYSYNC | UPC_OUT_MYSYNC;
constexpr std::size_t longest = 3000; // words of a block

std::uint64_t said(int from, int to, int turn, std::size_t k) {
  return (std::uint64_t(from) * 31 + std::uint64_t(to) * 1009 + std::uint64_t(turn) * 65'537 + k * 3) *
         0xD1B54A32D192ED03u;
}

struct letter {
  upc_shared_ptr_t src, dst;
  upc_coll_handle_t handle = UPC_HANDLE_COMPLETE;
  std::size_t words = 0;
};

std::uint64_t* mine(upc_shared_ptr_t array) {
  return static_cast<std::uint64_t*>(upc_cast(upc_ptradd(array, 1, THREADS * longest * 8, MYTHREAD)));
}

std::atomic<int> turn{0}, wrong{0};

// Sizes that are eager, direct and cut, the same on all.
std::size_t words_of(int t) {
  constexpr std::size_t sizes[] = {1, 7, 200, longest, 33};
  return sizes[t * 7 % 5];
}

void post(letter& l, int t) {
  l.words = words_of(t);
  for (int to = 0; to < THREADS; ++to)
    for (std::size_t k = 0; k < l.words; ++k)
      mine(l.src)[std::size_t(to) * l.words + k] = said(MYTHREAD, to, t, k);
  l.handle = upc_all_exchange(l.dst, l.src, l.words * 8, t % 4 == 0 ? mode : mode | UPC_ASYNC);
}

void finish(letter& l, int t) {
  if (t % 3 == 0)
    while (upc_test(l.handle) < 0) {
    }
  else
    upc_wait(l.handle);
  for (int from = 0; from < THREADS; ++from)
    for (std::size_t k = 0; k < l.words; ++k)
      if (mine(l.dst)[std::size_t(from) * l.words + k] != said(from, MYTHREAD, t, k) && wrong++ == 0)
        std::printf("thread %d, turn %d: word %zu from %d is wrong\n", MYTHREAD, t, k, from);
}

} // namespace

WEFT_SUITE(relay) {
  const int turns = argc > 1 ? std::atoi(argv[1]) : 60;
  std::vector<letter> letters(callers);
  for (letter& l : letters) {
    l.src = upc_all_alloc(THREADS, THREADS * longest * 8);
    l.dst = upc_all_alloc(THREADS, THREADS * longest * 8);
  }
  std::vector<std::thread> all;
  for (int caller = 0; caller < callers; ++caller)
    all.emplace_back([&, caller] {
      for (int t = caller; t < turns; t += callers) {
        while (turn.load() != t)
          std::this_thread::yield();
        letter& l = letters[std::size_t(caller)];
        post(l, t);
        if (t % 5 == 4) upc_barrier(t);
        turn.store(t + 1); // the next one may call
        finish(l, t);
      }
    });
  for (std::thread& one : all)
    one.join();
  upc_barrier(turns);
  if (MYTHREAD == 0 && wrong == 0) std::printf("%d turns of %d callers\n", turns, callers);
  return wrong == 0 ? 0 : 1;
}
