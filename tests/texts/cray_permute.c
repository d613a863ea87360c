// SPDX-License-Identifier: BSD-3-Clause
/* The example of upc_all_permute(3c), line by line; results checked. */
#include "c_check.h"

#include <upc.h>
#include <upc_collective.h>
#define NELEMS 10

static upc_shared_ptr_t A, B; /* shared [NELEMS] int A[NELEMS*THREADS], B[NELEMS*THREADS]; */
static upc_shared_ptr_t P;    /* shared int P[THREADS]; */

void cray_permute_arrays(void) {
  weft_register_shared(&A, NELEMS, sizeof(int), NELEMS, WEFT_PER_THREAD);
  weft_register_shared(&B, NELEMS, sizeof(int), NELEMS, WEFT_PER_THREAD);
  weft_register_shared(&P, 1, sizeof(int), 1, WEFT_PER_THREAD);
}

void cray_permute(void) {
  int i;
  /* Initialize A and P. */
  for (i = 0; i < NELEMS; i++)
    put_int(A, NELEMS, NELEMS * MYTHREAD + i, 100 * MYTHREAD + i + 1);
  put_int(P, 1, MYTHREAD, THREADS - 1 - MYTHREAD);
  upc_barrier();
  upc_all_permute(B, A, P, sizeof(int) * NELEMS, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier();
  for (i = 0; i < NELEMS * THREADS; i++)
    CHECK(get_int(B, NELEMS, i) == 100 * (THREADS - 1 - i / NELEMS) + i % NELEMS + 1);
  upc_barrier();
}
