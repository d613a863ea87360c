// SPDX-License-Identifier: BSD-3-Clause
// What comes between two calls that follow each other closely wakes no progress thread: the next call wants
// it. But the thread is back when there are no more calls: what others put here then, it takes in.
#include "tests/jobs/suite.h"

#include <upc.h>
#include <upc_castable.h>
#include <upc_collective_ext.h>
#include <weft/job.h>

#include <chrono>
#include <cstdio>

namespace {

using std::chrono::microseconds, std::chrono::steady_clock;

void pass_time(microseconds t) {
  for (const auto end = steady_clock::now() + t; steady_clock::now() < end;)
    ;
}

// The second thread is late each time, so what it is sent finds it away. True if it was woken a few times for
// each of the half milliseconds after which the progress thread looks again, and not for each call.
bool calls_are_left_alone(upc_shared_ptr_t dst, upc_shared_ptr_t src) {
  constexpr int calls = 3000;
  const auto wakes = [] { return weft_statistic("wakes"); };
  const auto before = wakes();
  const auto begin = steady_clock::now();
  for (int k = 0; k < calls; ++k) {
    if (MYTHREAD == 1) pass_time(microseconds(40));
    upc_all_exchange(dst, src, 8, UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
  }
  const auto looks = (steady_clock::now() - begin) / microseconds(500);
  const auto woken = static_cast<long>(wakes() - before);
  const bool right = woken <= 20 + 2 * looks || looks > calls / 3; // a machine this slow says nothing
  if (!right)
    std::fprintf(stderr, "thread %d: woken %ld times by %d calls, %ld expected at most\n", MYTHREAD, woken,
                 calls, static_cast<long>(20 + 2 * looks));
  return right;
}

// The first thread puts a word here while this one calls nothing. It does not return if no thread takes it
// in.
void wait_for_a_put(upc_shared_ptr_t dst, int round) {
  const upc_shared_ptr_t second = upc_ptradd(dst, 1, 16, 1);
  if (MYTHREAD == 0) return upc_memput(second, &round, sizeof round);
  const auto* const mine = static_cast<const volatile int*>(upc_cast(second));
  while (*mine != round)
    ;
}

} // namespace

WEFT_SUITE(calls_wake_nobody) {
  const upc_shared_ptr_t src = upc_all_alloc(2, 16), dst = upc_all_alloc(2, 16);
  upc_barrier();
  const bool right = calls_are_left_alone(dst, src);
  for (int round = 1; round <= 20; ++round) {
    upc_barrier();
    wait_for_a_put(dst, round);
  }
  upc_barrier();
  return right ? 0 : 1;
}
