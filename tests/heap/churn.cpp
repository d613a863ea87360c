// SPDX-License-Identifier: BSD-3-Clause
// A million allocations and frees at random, by owners and by others: every block is what its owner wrote,
// none overlaps another, and in the end the whole heap can be had in one piece again.
#include "tests/jobs/suite.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>
#include <weft/weft.hpp>

namespace {

struct block {
  upc_shared_ptr_t at;
  std::size_t bytes;
  unsigned char mark;
};

int wrong = 0;
void expect(bool holds, const char* what) {
  if (holds) return;
  if (wrong++ < 5) std::fprintf(stderr, "thread %d: %s\n", MYTHREAD, what);
}

// Its first and last byte tell whose it is.
block make(std::mt19937_64& random, bool global) {
  block b{};
  b.bytes = random() % 3 == 0 ? 1 + random() % 50000 : 1 + random() % 300;
  b.mark = static_cast<unsigned char>(random());
  b.at = global ? upc_global_alloc(1, b.bytes) : upc_alloc(b.bytes);
  upc_memset(b.at, b.mark, std::min<std::size_t>(b.bytes, 64));
  upc_memput({b.at.addr + b.bytes - 1, b.at.thread, 0}, &b.mark, 1);
  return b;
}
void end(const block& b) {
  unsigned char first = 0, last = 0;
  upc_memget(&first, b.at, 1);
  upc_memget(&last, {b.at.addr + b.bytes - 1, b.at.thread, 0}, 1);
  expect(first == b.mark && last == b.mark, "a block was written by another");
  upc_free(b.at);
}

void alone(std::size_t turns) {
  std::mt19937_64 random(static_cast<unsigned>(MYTHREAD) + 1);
  std::vector<block> live;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    if (live.empty() || (live.size() < 2000 && random() % 2 == 0)) {
      live.push_back(make(random, false));
    } else {
      std::swap(live[random() % live.size()], live.back());
      end(live.back());
      live.pop_back();
    }
  }
  for (const block& b : live)
    end(b);
}

// What one thread allocates the next one frees, while it allocates itself.
void together(int rounds) {
  constexpr std::size_t most = 20;
  weft::shared_array<block, most> handed(weft::per_thread(most));
  std::mt19937_64 random(static_cast<unsigned>(MYTHREAD) + 77);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t k = 0; k < most; ++k)
      handed[static_cast<std::ptrdiff_t>(most) * MYTHREAD + static_cast<std::ptrdiff_t>(k)] =
          make(random, k % 2 == 0);
    upc_barrier;
    const int before = (MYTHREAD + THREADS - 1) % THREADS;
    for (std::size_t k = 0; k < most; ++k)
      end(handed[static_cast<std::ptrdiff_t>(most) * before + static_cast<std::ptrdiff_t>(k)].get());
    upc_barrier;
  }
}

} // namespace

// usage: churn TURNS ROUNDS HEAP
WEFT_SUITE(heap_churn) {
  const auto number = [&](int k) { return std::strtoull(argc > k ? argv[k] : "0", nullptr, 10); };
  alone(number(1));
  together(static_cast<int>(number(2)));
  const std::size_t heap = number(3) - 4096;
  const upc_shared_ptr_t mine = upc_alloc(heap), all = upc_all_alloc(static_cast<std::size_t>(THREADS), heap);
  expect(!upc_isnull(mine) && !upc_isnull(all), "the heap is in pieces");
  upc_free(mine);
  upc_all_free(all);
  return wrong == 0 ? 0 : 1;
}
