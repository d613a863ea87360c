// SPDX-License-Identifier: BSD-3-Clause
#define _POSIX_C_SOURCE 200809L
/* A program as its user would write it, in C: every thread has a page of a ledger, on each line of it a step
 * x -> scale * x + shift, and one thread wants the pages one behind the other, several months at once. Steps
 * do not commute. In some months a thread brings its page only when all others but the one that wants them
 * have put theirs away: they wait for nothing but themselves.
 *
 *   ledger MONTHS LINES
 *
 * Mutation that this catches: a late rank holds up the others of a reduction in the order of the ranks. */
#include "tests/jobs/suite.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upc.h>
#include <upc_castable.h>
#include <upc_collective_cray.h>

enum { pages_at_once = 3 };

typedef struct {
  uint32_t scale, shift;
} step;

static step first_then(step a, step b) {
  const step both = {b.scale * a.scale, b.scale * a.shift + b.shift};
  return both;
}
static void compose(void* in, void* inout, size_t* n, cray_upc_dtype_t* type) {
  (void)type;
  for (size_t k = 0; k < *n; ++k)
    ((step*)inout)[k] = first_then(((const step*)in)[k], ((step*)inout)[k]);
}
static step written(long page, int thread, size_t row) {
  const step s = {(uint32_t)(page * 7 + thread * 2 + 3), (uint32_t)(row * 31 + (size_t)thread)};
  return s;
}

typedef struct {
  step* given; /* in ordinary memory on odd threads */
  upc_shared_ptr_t from, to;
  size_t rows;
  upc_handle_t asked;
} page;

static upc_shared_ptr_t on(upc_shared_ptr_t p, int thread, size_t offset) {
  const upc_shared_ptr_t there = {p.addr + offset, (uint32_t)thread, 0};
  return there;
}

WEFT_SUITE(ledger) {
  const long months = argc > 1 ? atol(argv[1]) : 20;
  const size_t most = argc > 2 ? (size_t)atol(argv[2]) : 20000, bytes = most * sizeof(step);
  const upc_shared_ptr_t room = upc_all_alloc((size_t)THREADS, 2 * pages_at_once * bytes);
  const upc_shared_ptr_t put_away = upc_all_alloc((size_t)THREADS, (size_t)THREADS * sizeof(long));
  volatile long* const seen = upc_cast(on(put_away, MYTHREAD, 0));
  step* const own = MYTHREAD % 2 ? malloc(pages_at_once * bytes) : NULL;
  upc_op_t in_order;
  int wrong = own == NULL && MYTHREAD % 2;
  wrong += cray_upc_op_create(compose, 0, &in_order) != CRAY_UPC_SUCCESS;
  for (int t = 0; t < THREADS; ++t)
    seen[t] = 0;
  upc_barrier();
  for (long month = 1; month <= months; ++month) {
    const int wants = (int)(month * 3 % THREADS);
    const int late = month % 4 && THREADS > 1 ? (int)((wants + 1 + month % (THREADS - 1)) % THREADS) : -1;
    page pages[pages_at_once];
    if (MYTHREAD == late) { /* all others but the one that wants them are through */
      for (int t = 0; t < THREADS; ++t)
        while (t != late && t != wants && seen[t] < month)
          sched_yield();
      upc_fence;
    }
    for (int k = 0; k < pages_at_once; ++k) {
      page* const p = &pages[k];
      const size_t place = (size_t)(2 * k) * bytes;
      p->rows = 1 + ((size_t)month * 977 + (size_t)k * 4999) % most;
      p->from = own != NULL ? weft_pointer_to(own + (size_t)k * most) : on(room, MYTHREAD, place);
      p->given = own != NULL ? own + (size_t)k * most : upc_cast(p->from);
      p->to = on(room, MYTHREAD, place + bytes);
      for (size_t row = 0; row < p->rows; ++row)
        p->given[row] = written(month + k, MYTHREAD, row);
      cray_upc_team_reduce(p->to, p->from, p->rows, CRAY_UPC_ULONG, in_order, wants, CRAY_UPC_TEAM_ALL,
                           &p->asked);
    }
    for (int k = pages_at_once; k-- > 0;)
      upc_sync(pages[k].asked);
    if (late >= 0 && MYTHREAD != late && MYTHREAD != wants)
      upc_memput(on(put_away, late, (size_t)MYTHREAD * sizeof month), &month, sizeof month);
    for (int k = 0; MYTHREAD == wants && k < pages_at_once; ++k) {
      const step* const all = upc_cast(pages[k].to);
      for (size_t row = 0; row < pages[k].rows; ++row) {
        step expected = written(month + k, 0, row);
        for (int t = 1; t < THREADS; ++t)
          expected = first_then(expected, written(month + k, t, row));
        if (memcmp(&all[row], &expected, sizeof expected) != 0 && wrong++ < 5)
          printf("thread %d, month %ld, page %d: line %zu is wrong\n", MYTHREAD, month, k, row);
      }
    }
    if (month % 5 == 0) upc_barrier();
  }
  upc_barrier();
  cray_upc_op_free(in_order);
  free(own);
  if (MYTHREAD == 0) {
    upc_free(room);
    upc_free(put_away);
    if (!wrong) printf("ledger: %ld months are right\n", months);
  }
  return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
