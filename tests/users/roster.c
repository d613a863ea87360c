// SPDX-License-Identifier: BSD-3-Clause
/* A program as its user would write it, in C: runners cross a line at random, each thread notes those that it
 * sees, and in each round all notes are put in order, first by time, then, in another pass that must not
 * break the first, by club. Other sorts are under way meanwhile, and a thread goes on to compute. There is no
 * reference to compare with: what an order must fulfil is looked at where each note lies, and beside its
 * neighbours. */
#include "tests/jobs/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upc.h>
#include <upc_castable.h>
#include <upc_collective.h>
#include <upc_collective_ext.h>

enum { clubs = 9, name = 21 };

struct note {
  unsigned time;
  unsigned char club;
  char runner[name]; /* no multiple of anything */
  unsigned number;
};

static upc_shared_ptr_t line, small;
static long most; /* notes of a round */
static int wrong = 0;

static void expect(int holds, const char* what, long round) {
  if (holds) return;
  if (wrong++ < 5) printf("thread %d, round %ld: %s\n", MYTHREAD, round, what);
}

static int by_time(upc_shared_ptr_t a, upc_shared_ptr_t b) {
  struct note x, y;
  upc_memget(&x, a, sizeof x);
  upc_memget(&y, b, sizeof y);
  return x.time < y.time ? -1 : x.time > y.time;
}
static int by_club(upc_shared_ptr_t a, upc_shared_ptr_t b) {
  const struct note *x = (const struct note*)upc_cast(a), *y = (const struct note*)upc_cast(b);
  return (int)x->club - (int)y->club;
}
static int by_byte_downwards(upc_shared_ptr_t a, upc_shared_ptr_t b) {
  return *(const unsigned char*)upc_cast(b) - *(const unsigned char*)upc_cast(a);
}

static struct note seen(long round, long i) {
  struct note n;
  memset(&n, 0, sizeof n);
  n.time = (unsigned)((i * 7919 + round * 31) % 997);
  n.club = (unsigned char)((i * i + round) % clubs);
  n.number = (unsigned)i;
  for (int k = 0; k < name; ++k)
    n.runner[k] = (char)('a' + (i * k + round) % 26);
  return n;
}

static upc_shared_ptr_t at(size_t block, long i) {
  return upc_ptradd(line, block, sizeof(struct note), i);
}

static void play(long round) {
  const long n = round % 5 == 4 ? round % 3 : 1 + round * 811 % most;
  const size_t block = (size_t)(round % 3 == 0 ? n / THREADS + 1 : round % 3 == 1 ? 1 + round % 7 : 0);
  const long bytes = 1 + round * 1237 % 3000;
  const upc_flag_t mode = round % 2 == 0 ? 0 : UPC_IN_MYSYNC | UPC_OUT_MYSYNC;
  for (long i = 0; i < n; ++i) {
    const upc_shared_ptr_t p = at(block, i);
    const struct note value = seen(round, i);
    if ((int)p.thread == MYTHREAD) memcpy(upc_cast(p), &value, sizeof value);
  }
  for (long i = 0; i < bytes; ++i) {
    const upc_shared_ptr_t p = upc_ptradd(small, 16, 1, i);
    if ((int)p.thread == MYTHREAD) *(unsigned char*)upc_cast(p) = (unsigned char)(i * 101 % 256);
  }
  upc_barrier();
  upc_coll_handle_t h[3];
  h[0] = upc_all_sort(line, sizeof(struct note), (size_t)n, block, by_time, mode | UPC_ASYNC);
  h[1] = upc_all_sort(small, 1, (size_t)bytes, 16, by_byte_downwards, UPC_ASYNC);
  volatile double x = 1;
  for (int k = 0; k < 20000; ++k)
    x = x * 1.0000001;
  upc_waitall(2, h);
  if (mode != 0) upc_barrier();
  h[2] = upc_all_sort(line, sizeof(struct note), (size_t)n, block, by_club, mode | UPC_ASYNC);
  while (upc_test(h[2]) < 0)
    x = x * 1.0000001;
  upc_barrier();

  /* Each thread looks at every note: what it is, and what stands before it. */
  long numbers = 0;
  struct note before, here;
  for (long i = 0; i < n; ++i) {
    upc_memget(&here, at(block, i), sizeof here);
    const struct note whole = seen(round, (long)here.number);
    expect(here.number < (unsigned)n && memcmp(&here, &whole, sizeof here) == 0, "a note is torn", round);
    numbers += here.number;
    if (i != 0) {
      const int order = before.club != here.club   ? before.club < here.club
                        : before.time != here.time ? before.time < here.time
                                                   : before.number < here.number;
      expect(order, "two notes are in the wrong order", round);
    }
    before = here;
  }
  expect(numbers == n * (n - 1) / 2, "notes are lost or doubled", round);
  unsigned char last = 255;
  for (long i = 0; i < bytes; ++i) {
    unsigned char b;
    upc_memget(&b, upc_ptradd(small, 16, 1, i), 1);
    expect(b <= last, "bytes are in the wrong order", round);
    last = b;
  }
  upc_barrier();
}

WEFT_SUITE(roster) {
  const long rounds = argc > 1 ? atol(argv[1]) : 20;
  most = argc > 2 ? atol(argv[2]) : 4000;
  line = upc_all_alloc((size_t)THREADS, (size_t)(most + 64) * sizeof(struct note));
  small = upc_all_alloc((size_t)THREADS, 4096);
  for (long round = 0; round < rounds && wrong == 0; ++round)
    play(round);
  upc_all_free(line);
  upc_all_free(small);
  if (MYTHREAD == 0 && wrong == 0) printf("roster: %ld rounds on %d threads\n", rounds, THREADS);
  return wrong != 0;
}
