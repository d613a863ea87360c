/* The examples of the texts in C, one text after the other; a failure on any thread is the job's. */
#include "c_check.h"

int failures = 0;

int main(int argc, char** argv) {
  v1_0_arrays();
  v0_3_arrays();
  cray_permute_arrays();
  weft_init(&argc, &argv);
  v1_0();
  v0_3();
  cray_permute();
  cray_alltoall();
  if (MYTHREAD == 0 && failures == 0) printf("the texts' examples are right on %d threads\n", THREADS);
  weft_finalize();
  return failures == 0 ? 0 : 1;
}
