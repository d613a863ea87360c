// SPDX-License-Identifier: BSD-3-Clause
/* The pipelined loop of cray_upc_team_alltoall(3c), line by line; the source of a round is a function of the
 * round, the sender and the receiver, and every round's result is checked. */
#include "c_check.h"

#include <string.h>
#include <upc_castable.h>
#include <upc_collective_cray.h>

static size_t nbytes;
static int round_number, received;

/* This thread's blocks of an array that begins on thread 0. */
static char* mine(upc_shared_ptr_t p) {
  return upc_cast(upc_ptradd(p, 1, 1, MYTHREAD));
}
static char value(int round, int from, int to) {
  return (char)(round * 37 + from * 11 + to);
}

static void initialize_data(const upc_shared_ptr_t* d, const upc_shared_ptr_t* s) {
  int k;
  for (k = 0; k < 2; k++) {
    memset(mine(d[k]), '?', (size_t)THREADS * nbytes);
    memset(mine(s[k]), '!', (size_t)THREADS * nbytes);
  }
}
static int finished(void) {
  return round_number == 20;
}
static void compute_local_source(upc_shared_ptr_t s) {
  int t;
  for (t = 0; t < THREADS; t++)
    memset(mine(s) + (size_t)t * nbytes, value(round_number, MYTHREAD, t), nbytes);
}
static void update_local_from_global(upc_shared_ptr_t d) {
  int t;
  size_t b;
  if (round_number == 0) return;
  received++;
  for (t = 0; t < THREADS; t++)
    for (b = 0; b < nbytes; b++)
      CHECK(mine(d)[(size_t)t * nbytes + b] == value(round_number - 1, t, MYTHREAD));
}

static void pipeline(void) {
  int i;
  upc_handle_t h = UPC_COMPLETE_HANDLE;
  upc_shared_ptr_t d[2], s[2];
  const ptrdiff_t all = (ptrdiff_t)nbytes * THREADS * THREADS;
  round_number = received = 0;

  /* Allocate and initialize symmetric memory for pipe-lined alltoall */
  d[0] = upc_all_alloc((size_t)(4 * THREADS), (size_t)THREADS * nbytes);
  d[1] = upc_ptradd(d[0], 1, 1, all);
  s[0] = upc_ptradd(d[1], 1, 1, all);
  s[1] = upc_ptradd(s[0], 1, 1, all);
  initialize_data(d, s);

  for (i = 0;; i = 1 - i) {
    /* Check for completion and prepare this round's data */
    if (finished()) break;
    compute_local_source(s[i]);

    /* Wait for results of previous round's alltoall */
    upc_sync(h);

    /* d[1-i] is ready */

    update_local_from_global(d[1 - i]);

    /* Start this round's alltoall and take advantage of the
       synchronization implict in the call to recognize that
       all ranks have called upc_sync() on the previous round's
       alltoall. */
    h = cray_upc_team_alltoall_nb(d[i], s[i], nbytes, CRAY_UPC_TEAM_ALL);

    /* s[1-i] is free to reuse as s[i] in next iteration */
    round_number++;
  }
  upc_sync(h);
  cray_upc_team_barrier(CRAY_UPC_TEAM_ALL);

  update_local_from_global(d[1 - i]);
  CHECK(received == 20);
  upc_all_free(d[0]);
}

void cray_alltoall(void) {
  nbytes = 8;
  pipeline();
  nbytes = 1000;
  pipeline();
  nbytes = 40000;
  pipeline();
}
