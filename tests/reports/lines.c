/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports name file and line of the call, of programs in C and of translated ones: their lines are those that
 * #line says. lines HOW, of two ranks:
 *   late       thread 1 comes late to what thread 0 waits for
 *   mismatch   with WEFT_CHECK=1: the two make different calls
 *   wrong      a call with an argument that is wrong
 *   translated the first, by the names that a UPC translator writes */
#include "tests/jobs/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <upc.h>
#include <upc_collective.h>

/* As upcr.h declares them, which has names of its own for what upc.h has. */
void upcr_notify(int barrierval, int flags);
void upcr_wait(int barrierval, int flags);

static void computes(time_t seconds) {
  const time_t end = time(NULL) + seconds;
  while (time(NULL) < end) {
  }
}

WEFT_PROGRAM(lines) {
  const char* const how = argc > 1 ? argv[1] : "late";
  upc_coll_handle_t handle = UPC_HANDLE_COMPLETE;
  upc_shared_ptr_t to, from;
  weft_init(&argc, &argv);
  to = upc_all_alloc((size_t)THREADS, 64);
  from = upc_all_alloc((size_t)THREADS, 64);
#line 1001 "solver.c"
  upc_barrier();
  if (strcmp(how, "late") == 0) {
    if (MYTHREAD == 1) computes(4);
    handle = upc_all_exchange(to, from, 8, UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
    upc_wait(handle);
  } else if (strcmp(how, "mismatch") == 0) {
    if (MYTHREAD == 1) handle = upc_all_gather_all(to, from, 8, UPC_IN_MYSYNC | UPC_ASYNC);
    upc_all_exchange(to, from, 8, UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
  } else if (strcmp(how, "wrong") == 0) {
    upc_all_exchange(to, from, 8, 1 << 30);
  } else {
    if (MYTHREAD == 1) computes(4);
#line 27 "stencil.upc"
    upcr_notify(0, 1);
    upcr_wait(0, 1);
  }
  upc_wait(handle);
  weft_finalize();
  return 0;
}
