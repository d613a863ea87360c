// SPDX-License-Identifier: BSD-3-Clause
// The example of upc_all_permute(3c), line by line; results checked.
#include <gtest/gtest.h>
#include <upc.h>
#include <upc_collective.h>
#include <weft/weft.hpp>

namespace {

#define NELEMS 10
// shared [NELEMS] int A[NELEMS*THREADS], B[NELEMS*THREADS];
weft::shared_array<int, NELEMS> A(weft::per_thread(NELEMS)), B(weft::per_thread(NELEMS));
// shared int P[THREADS];
weft::shared_array<int> P(weft::per_thread(1));

TEST(cray_permute, example) {
  // Initialize A and P.
  for (int i = 0; i < NELEMS; i++) {
    A[NELEMS * MYTHREAD + i] = 100 * MYTHREAD + i;
    B[NELEMS * MYTHREAD + i] = -1;
  }
  P[MYTHREAD] = THREADS - 1 - MYTHREAD;
  upc_barrier;
  upc_all_permute(B, A, P, sizeof(int) * NELEMS, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier;
  for (int i = 0; i < NELEMS * THREADS; i++)
    EXPECT_EQ(B[i], 100 * (THREADS - 1 - i / NELEMS) + i % NELEMS);
  upc_barrier;
}

} // namespace
