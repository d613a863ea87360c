// SPDX-License-Identifier: BSD-3-Clause
/* The examples of UPC Collective Operations V1.0, 4.2, line by line, and its figures; results checked. */
#include "c_check.h"

#include <upc_castable.h>
#include <upc_collective.h>

#define NELEMS 10
#define NUMELEMS 10

static upc_shared_ptr_t A1, B1; /* shared int A[THREADS], B[THREADS]; */
static upc_shared_ptr_t A2, A5; /* shared [] int A[NELEMS], A[NELEMS*THREADS]; */
static upc_shared_ptr_t A3, B3; /* shared [NELEMS] int A[NELEMS*THREADS], B[NELEMS*THREADS]; */
static upc_shared_ptr_t P;      /* shared int P[THREADS]; */
static upc_shared_ptr_t A4, B4; /* shared [NELEMS*THREADS] int A[THREADS][NELEMS*THREADS], B likewise */

void v1_0_arrays(void) {
  weft_register_shared(&A1, 1, sizeof(int), 1, WEFT_PER_THREAD);
  weft_register_shared(&B1, 1, sizeof(int), 1, WEFT_PER_THREAD);
  weft_register_shared(&A2, 0, sizeof(int), NELEMS, 0);
  weft_register_shared(&A5, 0, sizeof(int), NELEMS, WEFT_PER_THREAD);
  weft_register_shared(&A3, NELEMS, sizeof(int), NELEMS, WEFT_PER_THREAD);
  weft_register_shared(&B3, NELEMS, sizeof(int), NELEMS, WEFT_PER_THREAD);
  weft_register_shared(&P, 1, sizeof(int), 1, WEFT_PER_THREAD);
}

/* This thread's block of A3 is base, base + 1, ... */
static void initialize_A3(int base) {
  int i;
  for (i = 0; i < NELEMS; i++)
    put_int(A3, NELEMS, NELEMS * MYTHREAD + i, base + i);
}

static void broadcasts(void) {
  int i;
  if (THREADS > 1) {
    put_int(A1, 1, MYTHREAD, 10 + MYTHREAD);
    upc_barrier();
    upc_all_broadcast(B1, ADDRESS(int, 1, A1, 1), sizeof(int), UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
    upc_barrier();
    for (i = 0; i < THREADS; i++)
      CHECK(get_int(B1, 1, i) == 11);
  }

  if (MYTHREAD == THREADS - 1)
    for (i = 0; i < NELEMS; i++)
      put_int(A2, 0, i, 100 + i);
  upc_all_broadcast(B3, A2, sizeof(int) * NELEMS, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  for (i = 0; i < NELEMS * THREADS; i++)
    CHECK(get_int(B3, NELEMS, i) == 100 + i % NELEMS);
  upc_barrier();

  initialize_A3(NELEMS * MYTHREAD);
  upc_barrier();
  upc_all_broadcast(B3, ADDRESS(int, NELEMS, A3, 3), sizeof(int) * 2, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier();
  for (i = 0; i < THREADS; i++) {
    CHECK(get_int(B3, NELEMS, NELEMS * i) == 3);
    CHECK(get_int(B3, NELEMS, NELEMS * i + 1) == 4);
    CHECK(get_int(B3, NELEMS, NELEMS * i + 2) == 102);
  }
  upc_barrier();
}

static void scatters(void) {
  const int SRC_THREAD = THREADS > 1 ? 1 : 0;
  upc_shared_ptr_t A;
  upc_shared_ptr_t myA, srcA;
  int i;

  /* allocate and initialize an array distributed across all threads */
  A = upc_all_alloc((size_t)THREADS, (size_t)THREADS * NUMELEMS * sizeof(int));
  myA = upc_resetphase(ADDRESS(int, 1, A, MYTHREAD));
  for (i = 0; i < NUMELEMS * THREADS; i++)
    put_int(myA, 0, i, i + NUMELEMS * THREADS * MYTHREAD); /* (for example) */
  /* scatter the SRC_THREAD's row of the array */
  srcA = upc_resetphase(ADDRESS(int, 1, A, SRC_THREAD));
  upc_barrier();
  upc_all_scatter(B3, srcA, sizeof(int) * NUMELEMS, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier();
  for (i = 0; i < NUMELEMS * THREADS; i++)
    CHECK(get_int(B3, NELEMS, i) == i + NUMELEMS * THREADS * SRC_THREAD);
  upc_all_free(A);

  if (MYTHREAD == THREADS - 1)
    for (i = 0; i < NELEMS * THREADS; i++)
      put_int(A5, 0, i, 300 + i);
  upc_all_scatter(B3, A5, sizeof(int) * NELEMS, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  for (i = 0; i < NELEMS * THREADS; i++)
    CHECK(get_int(B3, NELEMS, i) == 300 + i);
  upc_barrier();
}

static void gathers(void) {
  upc_shared_ptr_t B;
  int i;
  initialize_A3(3000 * MYTHREAD);
  upc_all_gather(A5, A3, sizeof(int) * NELEMS, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  for (i = 0; i < NELEMS * THREADS; i++)
    CHECK(get_int(A5, 0, i) == 3000 * (i / NELEMS) + i % NELEMS);
  upc_barrier();

  B = upc_all_alloc(1, (size_t)THREADS * NELEMS * sizeof(int));
  initialize_A3(4000 * MYTHREAD);
  upc_barrier();
  upc_all_gather(B, A3, sizeof(int) * NELEMS, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier();
  for (i = 0; i < NELEMS * THREADS; i++)
    CHECK(get_int(B, 0, i) == 4000 * (i / NELEMS) + i % NELEMS);
  upc_all_free(B);
}

static void gather_alls(void) {
  upc_shared_ptr_t Bdata, myB;
  int t, i;
  initialize_A3(1000 * MYTHREAD);
  upc_barrier();
  upc_all_gather_all(B4, A3, sizeof(int) * NELEMS, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier();
  for (t = 0; t < THREADS; t++)
    for (i = 0; i < NELEMS * THREADS; i++)
      CHECK(get_int(B4, NELEMS * THREADS, NELEMS * THREADS * t + i) == 1000 * (i / NELEMS) + i % NELEMS);
  upc_barrier();

  Bdata = upc_all_alloc((size_t)(THREADS * THREADS), NELEMS * sizeof(int));
  myB = upc_resetphase(ADDRESS(int, 1, Bdata, MYTHREAD));
  /* Bdata contains THREADS*THREADS*NELEMS elements; myB is MYTHREAD's row of Bdata. */
  initialize_A3(2000 * MYTHREAD);
  upc_all_gather_all(Bdata, A3, NELEMS * sizeof(int), UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  for (i = 0; i < NELEMS * THREADS; i++)
    CHECK(get_int(myB, 0, i) == 2000 * (i / NELEMS) + i % NELEMS);
  upc_all_free(Bdata);
}

static void exchanges(void) {
  upc_shared_ptr_t Adata, Bdata, myA, myB;
  int t, i;
  for (i = 0; i < NELEMS * THREADS; i++)
    put_int(A4, NELEMS * THREADS, NELEMS * THREADS * MYTHREAD + i, 10000 * MYTHREAD + i);
  upc_barrier();
  upc_all_exchange(B4, A4, NELEMS * sizeof(int), UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier();
  for (t = 0; t < THREADS; t++)
    for (i = 0; i < NELEMS * THREADS; i++)
      CHECK(get_int(B4, NELEMS * THREADS, NELEMS * THREADS * t + i) ==
            10000 * (i / NELEMS) + NELEMS * t + i % NELEMS);
  upc_barrier();

  Adata = upc_all_alloc((size_t)(THREADS * THREADS), NELEMS * sizeof(int));
  myA = upc_resetphase(ADDRESS(int, 1, Adata, MYTHREAD));
  Bdata = upc_all_alloc((size_t)(THREADS * THREADS), NELEMS * sizeof(int));
  myB = upc_resetphase(ADDRESS(int, 1, Bdata, MYTHREAD));
  /* Initialize MYTHREAD's row of A. For example, */
  for (i = 0; i < NELEMS * THREADS; i++)
    put_int(myA, 0, i, MYTHREAD * 10 + i);
  upc_all_exchange(Bdata, Adata, NELEMS * sizeof(int), UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  for (i = 0; i < NELEMS * THREADS; i++)
    CHECK(get_int(myB, 0, i) == i / NELEMS * 10 + NELEMS * MYTHREAD + i % NELEMS);
  upc_all_free(Adata);
  upc_all_free(Bdata);
}

static void permutation(void) {
  int i;
  initialize_A3(5000 * MYTHREAD);
  put_int(P, 1, MYTHREAD, (MYTHREAD + 1) % THREADS);
  upc_barrier();
  upc_all_permute(B3, A3, P, sizeof(int) * NELEMS, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier();
  for (i = 0; i < NELEMS * THREADS; i++)
    CHECK(get_int(B3, NELEMS, i) == 5000 * ((i / NELEMS + THREADS - 1) % THREADS) + i % NELEMS);
  upc_barrier();
}

/* The figures: the blocks on the four threads before and after, one letter for a block of nbytes. */
static const int nbytes = 5;
#define ROW (4 * nbytes)
static upc_shared_ptr_t src, dst;

static upc_shared_ptr_t row(upc_shared_ptr_t area, int thread) {
  return upc_resetphase(ADDRESS(char, ROW, area, ROW* thread));
}

static void before(const char* blocks[4]) {
  int i;
  for (i = 0; i < ROW; i++) {
    put_char(row(src, MYTHREAD), 0, i, blocks[MYTHREAD][i / nbytes]);
    put_char(row(dst, MYTHREAD), 0, i, '.');
  }
}

static void check_after(const char* blocks[4]) {
  int t, i;
  for (t = 0; t < 4; t++)
    for (i = 0; i < ROW; i++)
      CHECK(get_char(row(dst, t), 0, i) == blocks[t][i / nbytes]);
  upc_barrier();
}

static void figures(void) {
  const upc_flag_t mode = UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC;
  const char* one_each[] = {"0...", "1...", "2...", "3..."};
  const char* all_everywhere[] = {"0123", "0123", "0123", "0123"};
  {
    const char* source[] = {"....", "D...", "....", "...."};
    const char* result[] = {"D...", "D...", "D...", "D..."};
    before(source);
    upc_all_broadcast(dst, row(src, 1), (size_t)nbytes, mode);
    check_after(result);
  }
  {
    const char* source[] = {"....", "0123", "....", "...."};
    before(source);
    upc_all_scatter(dst, row(src, 1), (size_t)nbytes, mode);
    check_after(one_each);
  }
  {
    const char* result[] = {"0123", "....", "....", "...."};
    before(one_each);
    upc_all_gather(row(dst, 0), src, (size_t)nbytes, mode);
    check_after(result);
  }
  before(one_each);
  upc_all_gather_all(dst, src, (size_t)nbytes, mode);
  check_after(all_everywhere);
  {
    const char* source[] = {"0123", "4567", "89AB", "CDEF"};
    const char* result[] = {"048C", "159D", "26AE", "37BF"};
    before(source);
    upc_all_exchange(dst, src, (size_t)nbytes, mode);
    check_after(result);
  }
  {
    const int perm[] = {1, 3, 0, 2};
    const char* result[] = {"2...", "0...", "3...", "1..."};
    before(one_each);
    put_int(P, 1, MYTHREAD, perm[MYTHREAD]);
    upc_all_permute(dst, src, P, (size_t)nbytes, mode);
    check_after(result);
  }
}

static upc_shared_ptr_t A7, B7; /* shared [3] long A[NELEMS * THREADS], B[NELEMS * THREADS] */

static long longest(long a, long b) {
  return a > b ? a : b;
}

/* 4.3.2 and 4.3.3. */
static void reductions(void) {
  const long n = (long)(NELEMS * THREADS);
  for (long i = 0; i < n; ++i) {
    const upc_shared_ptr_t p = upc_ptradd(A7, 3, sizeof(long), i);
    const long value = i + 1;
    if ((int)p.thread == MYTHREAD) upc_memput(p, &value, sizeof value);
  }
  upc_barrier();
  upc_all_reduceL(B7, A7, UPC_ADD, (size_t)n, 3, NULL, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier();
  long result = 0;
  upc_memget(&result, B7, sizeof result);
  CHECK(result == n * (n + 1) / 2);
  upc_barrier();
  upc_all_reduce_allL_team(B7, A7, UPC_FUNC, (size_t)n, 3, longest, 0, UPC_TEAM_ALL);
  upc_memget(&result, B7, sizeof result);
  CHECK(result == n);
  upc_barrier();
  upc_all_prefix_reduceL(B7, A7, UPC_ADD, (size_t)n, 3, NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  for (long i = 0; i < n; ++i) {
    upc_memget(&result, upc_ptradd(B7, 3, sizeof(long), i), sizeof result);
    CHECK(result == (i + 1) * (i + 2) / 2);
  }
  upc_barrier();
}

/* 4.3.4: greater elements first. */
static int lt_long(upc_shared_ptr_t x, upc_shared_ptr_t y) {
  const long x_val = *(const long *)upc_cast(x), y_val = *(const long *)upc_cast(y);
  return x_val > y_val ? -1 : x_val < y_val ? 1 : 0;
}
static void sorts(void) {
  const long n = (long)(NELEMS * THREADS);
  for (long i = 0; i < n; ++i) {
    const upc_shared_ptr_t p = upc_ptradd(A7, 3, sizeof(long), i);
    const long value = i;
    if ((int)p.thread == MYTHREAD) upc_memput(p, &value, sizeof value);
  }
  upc_barrier();
  upc_all_sort(A7, sizeof(long), (size_t)n, 3, lt_long, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier();
  for (long i = 0; i < n; ++i) {
    long value;
    upc_memget(&value, upc_ptradd(A7, 3, sizeof(long), i), sizeof value);
    CHECK(value == n - 1 - i);
  }
  upc_barrier();
}

void v1_0(void) {
  /* The number of elements has THREADS as a factor twice. */
  weft_register_shared(&A4, (size_t)(NELEMS * THREADS), sizeof(int), (size_t)(NELEMS * THREADS * THREADS), 0);
  weft_register_shared(&B4, (size_t)(NELEMS * THREADS), sizeof(int), (size_t)(NELEMS * THREADS * THREADS), 0);
  weft_register_shared(&src, (size_t)ROW, sizeof(char), (size_t)ROW, WEFT_PER_THREAD);
  weft_register_shared(&dst, (size_t)ROW, sizeof(char), (size_t)ROW, WEFT_PER_THREAD);
  broadcasts();
  scatters();
  gathers();
  gather_alls();
  exchanges();
  permutation();
  A7 = upc_all_alloc((size_t)(NELEMS * THREADS), 3 * sizeof(long));
  B7 = upc_all_alloc((size_t)(NELEMS * THREADS), 3 * sizeof(long));
  reductions();
  sorts();
  if (THREADS == 4) figures();
}
