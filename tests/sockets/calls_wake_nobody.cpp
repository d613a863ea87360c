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
#include <sys/resource.h>
#include <utility>

namespace {

using std::chrono::microseconds, std::chrono::steady_clock;

void pass_time(microseconds t) {
  for (const auto end = steady_clock::now() + t; steady_clock::now() < end;)
    ;
}

// How often this thread has slept itself, as a call does that waits on a core that others keep busy.
long own_sleeps() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw;
}

// The second thread is late each time, so what it is sent finds it away. True if the progress thread was
// woken a few times for each of the half milliseconds after which it looks again, and for each of the calls
// behind a pause as long as that, which other programs make; and not for each call.
bool calls_are_left_alone(upc_shared_ptr_t dst, upc_shared_ptr_t src) {
  constexpr int calls = 3000, behind_pause = 8;
  constexpr microseconds a_while(500);
  const auto wakes = [] { return static_cast<long>(weft_statistic("wakes")) - own_sleeps(); };
  const long before = wakes();
  const auto begin = steady_clock::now();
  long pauses = 0;
  for (auto [k, last] = std::pair(0, begin); k != calls; ++k) {
    if (MYTHREAD == 1) pass_time(microseconds(40));
    upc_all_exchange(dst, src, 8, UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
    const auto now = steady_clock::now();
    pauses += now - std::exchange(last, now) > a_while / 2;
  }
  const long looks = (steady_clock::now() - begin) / a_while;
  const long woken = wakes() - before, most = 20 + 2 * looks + (behind_pause + 2) * pauses;
  const bool right = woken <= most || most > 2 * calls / 3; // a machine this slow says nothing
  if (!right)
    std::fprintf(stderr, "thread %d: woken %ld times by %d calls, %ld expected at most\n", MYTHREAD, woken,
                 calls, most);
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
