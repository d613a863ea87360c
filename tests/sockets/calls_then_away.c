// SPDX-License-Identifier: BSD-3-Clause
// Written from the headers: many small exchanges behind each other, then one thread calls nothing for long,
// and the others read its memory meanwhile. It answers soon, whatever it has just been busy with. With an
// argument all threads share one core.
#define _GNU_SOURCE
#include "tests/jobs/suite.h"

#include <upc.h>
#include <upc_collective_ext.h>
#include <weft/job.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { calls = 500, words = 3, away_ms = 400, soon_ms = 200 };

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static void fail(const char* what, int round, double value) {
  fprintf(stderr, "thread %d, round %d: %s (%g)\n", MYTHREAD, round, what, value);
  upc_global_exit(1);
}

static void share_a_core(void) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) exit(2);
}

WEFT_SUITE(calls_then_away) {
  if (argc > 1) share_a_core();
  const size_t block = words * sizeof(long);
  upc_shared_ptr_t src = upc_all_alloc((size_t)THREADS, block * (size_t)THREADS);
  upc_shared_ptr_t dst = upc_all_alloc((size_t)THREADS, block * (size_t)THREADS);
  long mine[words * 64] = {0};
  for (int round = 0; round < 2 * THREADS; ++round) {
    for (int k = 0; k < THREADS * words; ++k)
      mine[k] = 1000 * round + 100 * MYTHREAD + k;
    upc_memput(upc_ptradd(src, 1, block * (size_t)THREADS, MYTHREAD), mine, block * (size_t)THREADS);
    upc_barrier();
    for (int k = 0; k < calls; ++k)
      upc_all_exchange(dst, src, block, UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
    const int away = round % THREADS;
    if (MYTHREAD == away) {
      const struct timespec long_time = {0, away_ms * 1000000L};
      nanosleep(&long_time, NULL);
    } else {
      const double begin = now_ms();
      long got[words * 64] = {0};
      for (int k = 0; k < 5; ++k)
        upc_memget(got, upc_ptradd(dst, 1, block * (size_t)THREADS, away), block * (size_t)THREADS);
      const double took = now_ms() - begin;
      if (took > soon_ms) fail("who is away did not answer for so many milliseconds", round, took);
      // What it has received from this thread is there if it has left its last exchange: it may not have.
      const long from_me = got[MYTHREAD * words], old = 1000 * (round - 1) + 100 * MYTHREAD + away * words;
      if (from_me != old + 1000 && from_me != old && from_me != 0)
        fail("a wrong word", round, (double)from_me);
    }
    upc_barrier();
  }
  return 0;
}
