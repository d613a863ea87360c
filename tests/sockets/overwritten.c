// SPDX-License-Identifier: BSD-3-Clause
// Written from the headers: a pipeline two deep over all relocalizations of large blocks, with roots that
// change. As soon as a wait says so the source is overwritten, and the result read; puts of the program's own
// and a fence go to the same threads meanwhile. With an argument all threads share one core.
#define _GNU_SOURCE
#include "tests/jobs/suite.h"

#include <upc.h>
#include <upc_castable.h>
#include <upc_collective_ext.h>
#include <upc_nb.h>
#include <weft/job.h>

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { rounds = 45, words_most = 66000 };
static const size_t words_of[] = {16384, 16385, 32768, 1, 50001, 24999, words_most};
enum kind { exchange, gather_all, broadcast, scatter, gather, kinds };

struct stage {
  upc_shared_ptr_t src, dst;
  uint64_t *mine, *got;
  upc_coll_handle_t handle;
};

static size_t words_in(int round) {
  return words_of[(size_t)round % (sizeof words_of / sizeof *words_of)];
}
static int root_of(int round) {
  return round * 3 % THREADS;
}
static upc_shared_ptr_t part_of(upc_shared_ptr_t area, int thread) {
  return upc_ptradd(area, 1, words_most * sizeof(uint64_t) * (size_t)THREADS, thread);
}

static uint64_t word(int round, int from, int to, size_t at) {
  return ((uint64_t)round << 48 | (uint64_t)from << 40 | (uint64_t)to << 32 | at) * 0x9e3779b97f4a7c15u;
}

static void fill(const struct stage* s, int round) {
  const size_t n = words_in(round);
  for (int to = 0; to < THREADS; ++to)
    for (size_t at = 0; at < n; ++at)
      s->mine[(size_t)to * n + at] = word(round, MYTHREAD, to, at);
}

static upc_coll_handle_t begin(const struct stage* s, int round) {
  const size_t bytes = words_in(round) * sizeof(uint64_t);
  const upc_flag_t mode = UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC;
  const int root = root_of(round);
  switch ((enum kind)(round % kinds)) {
  case exchange:
    return upc_all_exchange(s->dst, s->src, bytes, mode);
  case gather_all:
    return upc_all_gather_all(s->dst, s->src, bytes, mode);
  case broadcast:
    return upc_all_broadcast(s->dst, part_of(s->src, root), bytes, mode);
  case scatter:
    return upc_all_scatter(s->dst, part_of(s->src, root), bytes, mode);
  default:
    return upc_all_gather(part_of(s->dst, root), s->src, bytes, mode);
  }
}

static void expect(const struct stage* s, int round, int block, int from, int to) {
  const size_t n = words_in(round);
  for (size_t at = n; at-- > 0;) // the end first: it comes last
    if (s->got[(size_t)block * n + at] != word(round, from, to, at)) {
      fprintf(stderr, "thread %d, round %d: word %zu of %zu from thread %d is wrong\n", MYTHREAD, round, at,
              n, from);
      upc_global_exit(1);
    }
}

static void check(const struct stage* s, int round) {
  const int me = MYTHREAD, root = root_of(round);
  switch ((enum kind)(round % kinds)) {
  case exchange:
    for (int from = 0; from < THREADS; ++from)
      expect(s, round, from, from, me);
    return;
  case gather_all:
    for (int from = 0; from < THREADS; ++from)
      expect(s, round, from, from, 0);
    return;
  case broadcast:
    expect(s, round, 0, root, 0);
    return;
  case scatter:
    expect(s, round, 0, root, me);
    return;
  default:
    for (int from = 0; from < THREADS && me == root; ++from)
      expect(s, round, from, from, 0);
  }
}

static void finish(struct stage* s, int round) {
  const size_t bytes = words_in(round) * sizeof(uint64_t) * (size_t)THREADS;
  upc_wait(s->handle);
  memset(s->mine, 0xee, bytes);
  check(s, round);
  memset(s->got, 0xdd, bytes);
}

static void share_a_core(void) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) exit(2);
}

WEFT_SUITE(overwritten) {
  if (argc > 1) share_a_core();
  struct stage stages[2];
  const size_t room = words_most * sizeof(uint64_t) * (size_t)THREADS;
  for (int k = 0; k < 2; ++k) {
    struct stage* s = &stages[k];
    s->src = upc_all_alloc((size_t)THREADS, room);
    s->dst = upc_all_alloc((size_t)THREADS, room);
    s->mine = upc_cast(part_of(s->src, MYTHREAD));
    s->got = upc_cast(part_of(s->dst, MYTHREAD));
  }
  upc_shared_ptr_t board = upc_all_alloc((size_t)THREADS, sizeof(uint64_t) * (size_t)THREADS);
  const size_t line = sizeof(uint64_t) * (size_t)THREADS;
  const int next = (MYTHREAD + 1) % THREADS;
  const upc_shared_ptr_t there = upc_ptradd(board, 1, line, next);
  upc_barrier();
  for (int round = 0; round <= rounds; ++round) {
    if (round < rounds) {
      struct stage* s = &stages[round % 2];
      fill(s, round);
      s->handle = begin(s, round);
      const uint64_t note = word(round, MYTHREAD, next, 0);
      uint64_t back = 0;
      upc_memput_nbi(there, &note, sizeof note);
      upc_synci();
      upc_memget(&back, there, sizeof back);
      if (back != note) {
        fprintf(stderr, "thread %d, round %d: its note is not where it put it\n", MYTHREAD, round);
        upc_global_exit(1);
      }
    }
    if (round > 0) finish(&stages[(round - 1) % 2], round - 1);
  }
  upc_barrier();
  return 0;
}
