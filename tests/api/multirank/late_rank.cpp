// SPDX-License-Identifier: BSD-3-Clause
// One rank after the other comes late to exchanges that the others have posted and wait for, in each of the
// ways that look for one among several. Who waits goes to sleep between any two looks (WEFT_SPINS=0,
// WEFT_YIELDS=0), and must be found awake when the late one has come.
//
//   late_rank rounds
//
// Mutation that this catches: a look that has found something, and whose answer is thrown away on the way to
// sleep: a round of microseconds then lasts until the alarm.
#include "tests/jobs/suite.h"

#include <upc.h>
#include <upc_castable.h>
#include <upc_collective.h>
#include <weft/weft.hpp>

#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::size_t nbytes = 64;
constexpr unsigned together = 1; // operations of a round

struct detached {
  struct promise_type {
    detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() { throw; }
  };
};

detached complete_later(upc_coll_handle_t h) {
  weft::pending p(h);
  co_await p;
}

void complete(unsigned way, std::vector<upc_coll_handle_t> h) {
  const int count = static_cast<int>(h.size());
  switch (way % 3) {
  case 0:
    while (upc_waitany(count, h.data()) >= 0) {
    }
    break;
  case 1:
    while (upc_waitsome(count, h.data()) != 0) {
    }
    break;
  default:
    for (const upc_coll_handle_t each : h)
      complete_later(each);
    weft::run_all();
  }
}

unsigned char value(unsigned round, int from, int to) {
  return static_cast<unsigned char>(round * 7 + static_cast<unsigned>(from) * 31 +
                                    static_cast<unsigned>(to) * 3);
}

// Symmetric memory of so many bytes on every thread.
struct area {
  explicit area(std::size_t bytes)
      : memory(upc_all_alloc(static_cast<std::size_t>(THREADS), bytes)),
        mine(static_cast<unsigned char*>(
            upc_cast(upc_ptradd(memory, 1, bytes, static_cast<std::ptrdiff_t>(MYTHREAD))))) {}
  upc_shared_ptr_t at(std::size_t offset) const {
    upc_shared_ptr_t p = memory;
    p.addr += offset;
    return p;
  }
  upc_shared_ptr_t memory;
  unsigned char* mine;
};

} // namespace

WEFT_SUITE(late_rank) {
  const unsigned rounds = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 600;
  const std::size_t each = nbytes * static_cast<std::size_t>(THREADS);
  const area src(together * each), dst(together * each);
  for (unsigned round = 0; round != rounds; ++round) {
    alarm(10);
    for (unsigned op = 0; op != together; ++op)
      for (int to = 0; to != THREADS; ++to)
        src.mine[op * each + static_cast<std::size_t>(to) * nbytes] = value(round + op, MYTHREAD, to);
    if (static_cast<int>(round) % THREADS == MYTHREAD) usleep(200);
    std::vector<upc_coll_handle_t> h;
    for (unsigned op = 0; op != together; ++op)
      h.push_back(upc_all_exchange(dst.at(op * each), src.at(op * each), nbytes,
                                   UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC));
    complete(round / static_cast<unsigned>(THREADS), h);
    for (unsigned op = 0; op != together; ++op)
      for (int from = 0; from != THREADS; ++from)
        if (dst.mine[op * each + static_cast<std::size_t>(from) * nbytes] !=
            value(round + op, from, MYTHREAD)) {
          std::printf("thread %d, round %u: wrong data from thread %d\n", MYTHREAD, round, from);
          std::exit(1);
        }
    if (round % 100 == 99) upc_barrier;
  }
  alarm(0);
  upc_barrier;
  return 0;
}
