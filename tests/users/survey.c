// SPDX-License-Identifier: BSD-3-Clause
/* A program as its user would write it, in C: in each round a table of measurements lies over the threads, in
 * blocks of another size, and the threads ask for its total, its largest value by a function of their own,
 * where each measurement's share begins (an exclusive prefix sum), and a histogram that they all add to, all
 * of it at once and while they compute. What they get is compared with what each can work out alone. */
#include "tests/jobs/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upc.h>
#include <upc_castable.h>
#include <upc_collective.h>
#include <upc_collective_cray.h>

enum { most = 5000, bins = 700 };

static long measured(long round, long i) {
  return (i * i * 31 + round * 17) % 97 - 20;
}
static long larger(long a, long b) {
  return a > b ? a : b;
}

static upc_shared_ptr_t table, shares, total, peak, counts, all_counts;
static int wrong = 0;

static void expect(int holds, const char* what, long round) {
  if (holds) return;
  if (wrong++ < 5) printf("thread %d, round %ld: %s is wrong\n", MYTHREAD, round, what);
}

static double compute(long steps) {
  double x = 1;
  for (long k = 0; k < steps; ++k)
    x = x * 1.0000001 + 0.5;
  return x;
}

static long* on_me(upc_shared_ptr_t p) {
  const upc_shared_ptr_t mine = {p.addr, (uint32_t)MYTHREAD, 0};
  return (long*)upc_cast(mine);
}

static void play(long round) {
  const long n = 1 + round * 613 % most;
  const size_t block = (size_t)(round % 4 == 3 ? 0 : 1 + round * 7 % 40);
  const upc_flag_t mode = (round % 3 == 0 ? 0 : UPC_IN_MYSYNC | UPC_OUT_MYSYNC) | UPC_ASYNC;
  long sum = 0, top = measured(round, 0);
  for (long i = 0; i < n; ++i) {
    const upc_shared_ptr_t p = upc_ptradd(table, block, sizeof(long), i);
    const long value = measured(round, i);
    if ((int)p.thread == MYTHREAD) memcpy(upc_cast(p), &value, sizeof value);
    sum += value;
    top = larger(top, value);
  }
  memset(on_me(counts), 0, bins * sizeof(long));
  for (long k = 0; k <= round + MYTHREAD; ++k)
    ++on_me(counts)[(k * 13 + MYTHREAD) % bins];
  upc_barrier();

  upc_coll_handle_t asked[3];
  asked[0] = upc_all_reduce_allL(total, table, UPC_ADD, (size_t)n, block, NULL, mode);
  asked[1] = upc_all_reduce_allL(peak, table, round % 2 ? UPC_FUNC : UPC_MAX, (size_t)n, block, larger, mode);
  asked[2] = upc_all_prefix_reduceL(shares, table, UPC_ADD, (size_t)n, block, NULL,
                                    mode | UPC_EXCLUSIVE_PREFIX_REDUCE);
  upc_handle_t histogram;
  const upc_shared_ptr_t mine = {counts.addr, (uint32_t)MYTHREAD, 0};
  const upc_shared_ptr_t sums = {all_counts.addr, (uint32_t)MYTHREAD, 0};
  cray_upc_team_allreduce(sums, mine, bins, CRAY_UPC_LONG, UPC_ADD, CRAY_UPC_TEAM_ALL, &histogram);
  const double kept = compute(1000 * (1 + (round + MYTHREAD) % 5));
  if (round % 2) {
    while (!upc_sync_attempt(histogram))
      compute(10);
  } else {
    upc_sync(histogram);
  }
  upc_wait(asked[2]);
  upc_wait(asked[0]);
  upc_wait(asked[1]);
  expect(kept > 0, "the computation", round);
  expect(*on_me(total) == sum, "the total", round);
  expect(*on_me(peak) == top, "the largest value", round);
  upc_barrier();

  long before = 0;
  for (long i = 0; i < n; ++i) {
    const upc_shared_ptr_t p = upc_ptradd(shares, block, sizeof(long), i);
    long got = 0;
    if ((int)p.thread == MYTHREAD) memcpy(&got, upc_cast(p), sizeof got);
    if ((int)p.thread == MYTHREAD && i != 0) expect(got == before, "a share", round);
    before += measured(round, i);
  }
  for (long b = 0; b < bins; ++b) {
    long wanted = 0;
    for (int t = 0; t < THREADS; ++t)
      for (long k = 0; k <= round + t; ++k)
        wanted += (k * 13 + t) % bins == b;
    if (b % 50 == 0 || b < 20) expect(on_me(all_counts)[b] == wanted, "a bin", round);
  }
  upc_barrier();
}

WEFT_SUITE(survey) {
  const long rounds = argc > 1 ? atol(argv[1]) : 40;
  const size_t bytes = (most + 100) * sizeof(long);
  table = upc_all_alloc((size_t)THREADS, bytes);
  shares = upc_all_alloc((size_t)THREADS, bytes);
  total = upc_all_alloc((size_t)THREADS, sizeof(long));
  peak = upc_all_alloc((size_t)THREADS, sizeof(long));
  counts = upc_all_alloc((size_t)THREADS, bins * sizeof(long));
  all_counts = upc_all_alloc((size_t)THREADS, bins * sizeof(long));
  for (long round = 0; round < rounds; ++round)
    play(round);
  if (MYTHREAD == 0 && !wrong) printf("survey: %ld rounds are right\n", rounds);
  return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
