// SPDX-License-Identifier: BSD-3-Clause
/* The examples of the texts in C, one text after the other; a failure on any thread is the job's. */
#include "tests/jobs/suite.h"
#include "c_check.h"

int failures = 0;

/* Before weft_init, as shared arrays of a program are. */
__attribute__((constructor)) static void register_before_init(void) {
  v1_0_arrays();
  v0_3_arrays();
  cray_permute_arrays();
}

WEFT_SUITE(texts_c) {
  v1_0();
  v0_3();
  cray_permute();
  cray_alltoall();
  if (MYTHREAD == 0 && failures == 0) printf("the texts' examples are right on %d threads\n", THREADS);
  return failures == 0 ? 0 : 1;
}
