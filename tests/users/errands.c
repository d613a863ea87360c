// SPDX-License-Identifier: BSD-3-Clause
#define _POSIX_C_SOURCE 200809L
/* A program as its user would write it, in C: each thread writes a letter on its neighbour, puts up a flag
 * behind it, and waits for the flag of its own. Letters and flags are plain shared memory; what orders them
 * is upc_fence. The letters of the next round are copied while the present one is read. Whoever finds a wrong
 * one ends the job. */
#include "tests/jobs/suite.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <upc_relaxed.h>

#include <upc_castable.h>
#include <upc_nb.h>
#include <upc_tick.h>

enum { words = 700 };

static int word(int writer, int round, int k) {
  return writer * 1000003 + round * 8191 + k;
}
static upc_shared_ptr_t on(upc_shared_ptr_t p, int thread, size_t offset) {
  const upc_shared_ptr_t there = {p.addr + offset, (uint32_t)thread, 0};
  return there;
}

WEFT_SUITE(errands) {
  static int drafts[2][words];
  const int rounds = argc > 1 ? atoi(argv[1]) : 50;
  const int right = (MYTHREAD + 1) % THREADS, left = (MYTHREAD + THREADS - 1) % THREADS;
  const size_t bytes = sizeof drafts[0];
  /* Two letters on each thread: one is read while the next is written. */
  const upc_shared_ptr_t letters = upc_all_alloc((size_t)THREADS, 2 * bytes);
  const upc_shared_ptr_t flags = upc_all_alloc((size_t)THREADS, 2 * sizeof(int));
  volatile int* const flag = upc_cast(on(flags, MYTHREAD, 0)); /* [0] a letter is there, [1] mine was read */
  const upc_tick_t begin = upc_ticks_now();
  flag[0] = flag[1] = 0;
  upc_barrier();
  for (int round = 1; round <= rounds; ++round) {
    const size_t half = (size_t)(round % 2);
    for (int k = 0; k < words; ++k)
      drafts[half][k] = word(MYTHREAD, round, k);
    while (flag[1] < round - 2) /* the letter that lay there has been read */
      sched_yield();
    upc_fence;
    upc_sync(upc_memput_nb(on(letters, right, half * bytes), drafts[half], bytes));
    upc_fence; /* first the letter, then the flag */
    upc_memput(on(flags, right, 0), &round, sizeof round);
    while (flag[0] < round)
      sched_yield();
    upc_fence;
    const int* const letter = upc_cast(on(letters, MYTHREAD, half * bytes));
    for (int k = 0; k < words; ++k)
      if (letter[k] != word(left, round, k)) {
        printf("thread %d, round %d: word %d of the letter is wrong\n", MYTHREAD, round, k);
        upc_global_exit(1);
      }
    upc_fence;
    upc_memput(on(flags, left, sizeof(int)), &round, sizeof round);
  }
  if (upc_ticks_now() < begin) upc_global_exit(2);
  upc_barrier();
  return 0;
}
