// SPDX-License-Identifier: BSD-3-Clause
#define _POSIX_C_SOURCE 200809L
/* One thread ends the job while the others compute, wait, are late with weft_init's successors or have
 * blocked the signal that would end them: the launcher's status must be the one that was given, soon.
 *
 *   global_exit status   the last thread, or the only one, gives it */
#include "tests/jobs/suite.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <upc.h>
#include <upc_collective.h>

WEFT_PROGRAM(global_exit) {
  const int status = argc > 1 ? atoi(argv[1]) : 0;
  volatile double sum = 0;
  sigset_t all;
  weft_init(&argc, &argv);
  printf("thread %d was here", MYTHREAD);                           /* only the end flushes it */
  if (MYTHREAD % 3 == 2 && MYTHREAD != THREADS - 1) fflush(stdout); /* it blocks the signal */
  upc_barrier();
  if (MYTHREAD == THREADS - 1) upc_global_exit(status);
  if (MYTHREAD % 3 == 0) /* computes */
    for (long i = 1;; ++i)
      sum += 1.0 / (double)i;
  if (MYTHREAD % 3 == 1) upc_barrier(); /* waits for ever */
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  for (;;)
    sum = 0;
}
