// SPDX-License-Identifier: BSD-3-Clause
/* Copies that were begun go on while no thread calls the library: a thread puts a block on its neighbour and
 * gets one from it, and computes; its neighbour, which computes as well, sees the block come although no
 * thread has called anything since. Which needs a thread of the library, so not WEFT_PROGRESS=caller. */
#include "tests/jobs/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <upc.h>
#include <upc_castable.h>
#include <upc_nb.h>

enum { ints = 1 << 18, patience = 20 };

static upc_shared_ptr_t on(upc_shared_ptr_t p, int thread) {
  const upc_shared_ptr_t there = {p.addr, (uint32_t)thread, 0};
  return there;
}

WEFT_SUITE(one_sided_away) {
  int* own = malloc(ints * sizeof(int));
  int* got = malloc(ints * sizeof(int));
  int wrong = 0;
  upc_shared_ptr_t blocks, fixed;
  volatile int* mine;
  int* readable;
  const int right = (MYTHREAD + 1) % THREADS, left = (MYTHREAD + THREADS - 1) % THREADS;
  blocks = upc_all_alloc((size_t)THREADS, ints * sizeof(int));
  fixed = upc_all_alloc((size_t)THREADS, ints * sizeof(int));
  mine = upc_cast(on(blocks, MYTHREAD));
  readable = upc_cast(on(fixed, MYTHREAD));
  for (int i = 0; i < ints; ++i) {
    own[i] = 1 + i + MYTHREAD;
    got[i] = 0;
    mine[i] = 0;
    readable[i] = 7 * i + MYTHREAD;
  }
  upc_barrier();
  upc_handle_t h = upc_memput_nb(on(blocks, right), own, ints * sizeof(int));
  upc_memget_nbi(got, on(fixed, right), ints * sizeof(int));

  /* No call from here: both must come by themselves. */
  const time_t begin = time(NULL);
  for (int i = 0; i < ints; ++i)
    while (mine[i] != 1 + i + left || ((volatile int*)got)[i] != 7 * i + right)
      if (time(NULL) - begin > patience) {
        printf("thread %d: nothing came of element %d while it computed\n", MYTHREAD, i);
        return 1;
      }

  upc_sync(h);
  if (!upc_sync_attempt(h)) wrong = 1;
  while (!upc_synci_attempt()) {
  }
  upc_barrier();
  free(own);
  free(got);
  return wrong;
}
