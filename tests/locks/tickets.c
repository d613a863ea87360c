// SPDX-License-Identifier: BSD-3-Clause
/* As a user would write it: threads draw tickets from a counter behind a lock, and put their names into a
 * list that another lock protects. */
#include "tests/jobs/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <upc.h>

enum { turns = 50 };

static void require(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "thread %d: not so: %s\n", (int)MYTHREAD, what);
  exit(1);
}

WEFT_SUITE(lock_tickets) {
  upc_shared_ptr_t counter, list;
  upc_lock_t drawing, listing;
  long seen = 0, next = 0, last = -1;
  int k;
  drawing = upc_all_lock_alloc();
  listing = upc_all_lock_alloc();
  counter = upc_all_alloc(1, sizeof(long));
  list = upc_all_alloc((size_t)THREADS, (turns + 1) * sizeof(long));
  upc_memset(upc_ptradd(list, 1, (turns + 1) * sizeof(long), MYTHREAD), 0, (turns + 1) * sizeof(long));
  if (MYTHREAD == 0) upc_memset(counter, 0, sizeof(long));
  upc_barrier();
  for (k = 0; k < turns; ++k) {
    long ticket = 0;
    upc_lock(drawing);
    upc_memget(&ticket, counter, sizeof ticket);
    ++ticket;
    upc_memput(counter, &ticket, sizeof ticket);
    upc_unlock(drawing);
    require(ticket > last, "tickets grow");
    last = ticket;
    while (!upc_lock_attempt(listing)) {
    }
    upc_memget(&next, list, sizeof next); /* on thread 0, its first number */
    ++next;
    upc_memput(list, &next, sizeof next);
    upc_unlock(listing);
  }
  upc_barrier();
  upc_memget(&seen, counter, sizeof seen);
  require(seen == (long)turns * THREADS, "as many tickets as were drawn");
  upc_memget(&next, list, sizeof next);
  require(next == (long)turns * THREADS, "as many names");
  upc_barrier();
  upc_all_lock_free(listing);
  if (MYTHREAD == THREADS - 1) upc_lock_free(drawing);
  return 0;
}
