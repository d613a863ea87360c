// SPDX-License-Identifier: BSD-3-Clause
// Small broadcasts under IN_MY between hosts, handed on by engines (WEFT_ALGORITHM=broadcast=relayed): more
// of them in a row than a team has slots, of all roots, while one thread after the other comes late; and
// threads that do not come at all until the others have left.
//
//   relayed rounds
//
// Mutations that this catches: a payload that is only handed on once its rank has entered; one that is handed
// on without credit.
#include "tests/jobs/suite.h"

#include <upc.h>
#include <upc_castable.h>
#include <upc_collective.h>
#include <upc_collective_cray.h>
#include <weft/weft.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <vector>

namespace {

using upc_clock = std::chrono::steady_clock;
constexpr unsigned together = 120; // operations under way
constexpr std::size_t most = 2048;
constexpr int late_ms = 1500;

std::size_t size(unsigned op) {
  constexpr std::size_t sizes[] = {8, 1, 57, 640, most};
  return sizes[op % 5];
}
unsigned char value(unsigned round, unsigned op, std::size_t at) {
  return static_cast<unsigned char>(round * 7 + op * 31 + at * 3);
}

// Symmetric memory of so many bytes on every thread.
struct area {
  explicit area(std::size_t bytes)
      : memory(upc_all_alloc(static_cast<std::size_t>(THREADS), bytes)), bytes_(bytes),
        mine(static_cast<unsigned char*>(upc_cast(on(MYTHREAD, 0)))) {}
  upc_shared_ptr_t on(int thread, std::size_t offset) const {
    upc_shared_ptr_t p = upc_ptradd(memory, 1, bytes_, static_cast<std::ptrdiff_t>(thread));
    p.addr += offset;
    return p;
  }
  upc_shared_ptr_t memory;
  std::size_t bytes_;
  unsigned char* mine;
};

int root_of(unsigned op) {
  return static_cast<int>(op / 7) % THREADS;
}

void check(const area& dst, unsigned round, unsigned op) {
  for (std::size_t at = 0; at != size(op); ++at)
    if (dst.mine[op * most + at] != value(round, op, at)) {
      std::printf("thread %d, round %u, operation %u: wrong byte %zu\n", MYTHREAD, round, op, at);
      std::exit(1);
    }
}

void play(const area& src, const area& dst, unsigned round) {
  for (unsigned op = 0; op != together; ++op)
    for (std::size_t at = 0; at != size(op); ++at) {
      dst.mine[op * most + at] = 0;
      src.mine[op * most + at] = value(round, op, at);
    }
  upc_barrier;
  const bool late = static_cast<int>(round) % THREADS == MYTHREAD;
  std::vector<upc_coll_handle_t> h;
  const auto out = [&](unsigned op) { return (op + round) % 2 == 0 ? UPC_OUT_MYSYNC : UPC_OUT_NOSYNC; };
  for (unsigned op = 0; op != together; ++op) {
    if (late && op % 40 == 0) usleep(3000);
    h.push_back(upc_all_broadcast(dst.on(0, op * most), src.on(root_of(op), op * most), size(op),
                                  UPC_IN_MYSYNC | out(op) | UPC_ASYNC));
  }
  for (unsigned op = 0; op != together; ++op) {
    upc_wait(h[op]);
    if (out(op) == UPC_OUT_MYSYNC) check(dst, round, op);
  }
  upc_barrier;
  for (unsigned op = 0; op != together; ++op)
    check(dst, round, op);
}

// All but one leave while that one has not come.
void without(int absent, const area& src, const area& dst) {
  upc_barrier;
  const auto begin = upc_clock::now();
  if (MYTHREAD == absent) usleep(late_ms * 1000);
  const int root = (absent + 1) % THREADS;
  for (unsigned op = 0; op != 20; ++op) {
    if (MYTHREAD == root) src.mine[op * most] = static_cast<unsigned char>(absent + 1);
    upc_all_broadcast(dst.on(0, op * most), src.on(root, op * most), 1, UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
    if (dst.mine[op * most] != absent + 1) {
      std::printf("thread %d without %d: wrong byte\n", MYTHREAD, absent);
      std::exit(1);
    }
  }
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(upc_clock::now() - begin).count();
  if (MYTHREAD != absent && took > late_ms * 2 / 3) {
    std::printf("thread %d waited %lld ms for thread %d\n", MYTHREAD, static_cast<long long>(took), absent);
    std::exit(1);
  }
  upc_barrier;
}

} // namespace

WEFT_SUITE(relayed) {
  const unsigned rounds = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 20;
  const area src(together * most), dst(together * most);
  for (unsigned round = 0; round != rounds; ++round) {
    alarm(30);
    play(src, dst, round);
  }
  for (int absent = 0; absent != THREADS; ++absent) {
    alarm(30);
    without(absent, src, dst);
  }
  alarm(0);
  upc_barrier;
  return 0;
}
