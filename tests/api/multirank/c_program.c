// SPDX-License-Identifier: BSD-3-Clause
/* The examples of the texts and the modes in C, results checked; a failure on any thread is the job's. With
 * the argument "fail" the last thread makes a wrong call, and the default handler ends the job. */
#include "tests/jobs/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upc.h>
#include <upc_castable.h>
#include <upc_collective.h>
#include <upc_collective_cray.h>
#include <upc_nb.h>

#define NELEMS 10

static int failures;

static void check(int condition, const char* what, int line) {
  if (condition) return;
  if (++failures < 20) fprintf(stderr, "thread %d, line %d: %s\n", MYTHREAD, line, what);
}
#define CHECK(condition) check((condition) != 0, #condition, __LINE__)

/* Element i of an array of int with that block size. */
static upc_shared_ptr_t element(upc_shared_ptr_t array, size_t block, ptrdiff_t i) {
  return upc_ptradd(array, block, sizeof(int), i);
}
static void put(upc_shared_ptr_t array, size_t block, ptrdiff_t i, int value) {
  upc_memput(element(array, block, i), &value, sizeof value);
}
static int get(upc_shared_ptr_t array, size_t block, ptrdiff_t i) {
  int value;
  upc_memget(&value, element(array, block, i), sizeof value);
  return value;
}

static upc_shared_ptr_t A1, B1; /* shared int A1[THREADS], B1[THREADS]; */
static upc_shared_ptr_t A2;     /* shared [] int A2[NELEMS]; */
static upc_shared_ptr_t A5;     /* shared [] int A5[NELEMS*THREADS]; */
static upc_shared_ptr_t A3, B3; /* shared [NELEMS] int A3[NELEMS*THREADS], B3[NELEMS*THREADS]; */

static void register_arrays(void) {
  weft_register_shared(&A1, 1, sizeof(int), 1, WEFT_PER_THREAD);
  weft_register_shared(&B1, 1, sizeof(int), 1, WEFT_PER_THREAD);
  weft_register_shared(&A2, 0, sizeof(int), NELEMS, 0);
  weft_register_shared(&A5, 0, sizeof(int), NELEMS, WEFT_PER_THREAD);
  weft_register_shared(&A3, NELEMS, sizeof(int), NELEMS, WEFT_PER_THREAD);
  weft_register_shared(&B3, NELEMS, sizeof(int), NELEMS, WEFT_PER_THREAD);
}

static void registered_arrays_are_zero(void) {
  int i;
  for (i = 0; i < NELEMS * THREADS; i++)
    CHECK(get(A3, NELEMS, i) == 0);
  upc_barrier();
}

static void broadcasts(void) {
  int i;
  put(A1, 1, MYTHREAD, 10 + MYTHREAD);
  upc_barrier();
  upc_all_broadcast(B1, element(A1, 1, THREADS - 1), sizeof(int), UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier();
  for (i = 0; i < THREADS; i++)
    CHECK(get(B1, 1, i) == 10 + THREADS - 1);

  if (MYTHREAD == 0)
    for (i = 0; i < NELEMS; i++)
      put(A2, 0, i, 100 + i);
  upc_all_broadcast(B3, A2, sizeof(int) * NELEMS, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  for (i = 0; i < NELEMS * THREADS; i++)
    CHECK(get(B3, NELEMS, i) == 100 + i % NELEMS);
  upc_barrier();

  for (i = 0; i < NELEMS; i++)
    put(A3, NELEMS, NELEMS * MYTHREAD + i, NELEMS * MYTHREAD + i);
  upc_barrier();
  upc_all_broadcast(B3, element(A3, NELEMS, 3), sizeof(int) * 2, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier();
  for (i = 0; i < THREADS; i++) {
    CHECK(get(B3, NELEMS, NELEMS * i) == 3);
    CHECK(get(B3, NELEMS, NELEMS * i + 1) == 4);
    CHECK(get(B3, NELEMS, NELEMS * i + 2) == 102);
  }
  upc_barrier();
}

static void scatters(void) {
  const int src_thread = THREADS > 1 ? 1 : 0;
  int i;
  upc_shared_ptr_t A, myA, srcA;
  A = upc_all_alloc((size_t)THREADS, (size_t)THREADS * NELEMS * sizeof(int));
  myA = upc_resetphase(element(A, 1, MYTHREAD));
  for (i = 0; i < NELEMS * THREADS; i++)
    put(myA, 0, i, i + NELEMS * THREADS * MYTHREAD);
  srcA = upc_resetphase(element(A, 1, src_thread));
  upc_barrier();
  upc_all_scatter(B3, srcA, sizeof(int) * NELEMS, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier();
  for (i = 0; i < NELEMS * THREADS; i++)
    CHECK(get(B3, NELEMS, i) == i + NELEMS * THREADS * src_thread);
  upc_all_free(A);

  if (MYTHREAD == 0)
    for (i = 0; i < NELEMS * THREADS; i++)
      put(A5, 0, i, 300 + i);
  upc_all_scatter(B3, A5, sizeof(int) * NELEMS, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  for (i = 0; i < NELEMS * THREADS; i++)
    CHECK(get(B3, NELEMS, i) == 300 + i);
  upc_barrier();
}

static void gathers(void) {
  int i;
  upc_shared_ptr_t B;
  for (i = 0; i < NELEMS; i++)
    put(A3, NELEMS, NELEMS * MYTHREAD + i, 3000 * MYTHREAD + i);
  upc_all_gather(A5, A3, sizeof(int) * NELEMS, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  for (i = 0; i < NELEMS * THREADS; i++)
    CHECK(get(A5, 0, i) == 3000 * (i / NELEMS) + i % NELEMS);

  B = upc_all_alloc(1, (size_t)THREADS * NELEMS * sizeof(int));
  upc_barrier();
  upc_all_gather(B, A3, sizeof(int) * NELEMS, UPC_IN_NOSYNC | UPC_OUT_NOSYNC);
  upc_barrier();
  for (i = 0; i < NELEMS * THREADS; i++)
    CHECK(get(B, 0, i) == 3000 * (i / NELEMS) + i % NELEMS);
  upc_all_free(B);
}

static void gather_alls(void) {
  int i;
  upc_shared_ptr_t Bdata, myB;
  for (i = 0; i < NELEMS; i++)
    put(A3, NELEMS, NELEMS * MYTHREAD + i, 1000 * MYTHREAD + i);
  Bdata = upc_all_alloc((size_t)(THREADS * THREADS), NELEMS * sizeof(int));
  myB = upc_resetphase(element(Bdata, 1, MYTHREAD));
  upc_all_gather_all(Bdata, A3, NELEMS * sizeof(int), UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  for (i = 0; i < NELEMS * THREADS; i++)
    CHECK(get(myB, 0, i) == 1000 * (i / NELEMS) + i % NELEMS);
  upc_all_free(Bdata);
}

/* In all modes: the blocks of thread j for thread i are j * 10 + element. */
static void exchanges(void) {
  static const upc_flag_t in[] = {0, UPC_IN_NOSYNC, UPC_IN_MYSYNC, UPC_IN_ALLSYNC};
  static const upc_flag_t out[] = {0, UPC_OUT_NOSYNC, UPC_OUT_MYSYNC, UPC_OUT_ALLSYNC};
  int m, i, async;
  upc_shared_ptr_t Adata = upc_all_alloc((size_t)(THREADS * THREADS), NELEMS * sizeof(int));
  upc_shared_ptr_t Bdata = upc_all_alloc((size_t)(THREADS * THREADS), NELEMS * sizeof(int));
  upc_shared_ptr_t myA = upc_resetphase(element(Adata, 1, MYTHREAD));
  upc_shared_ptr_t myB = upc_resetphase(element(Bdata, 1, MYTHREAD));
  for (m = 0; m < 16; m++)
    for (async = 0; async < 2; async++) {
      upc_coll_handle_t h;
      for (i = 0; i < NELEMS * THREADS; i++) {
        put(myA, 0, i, MYTHREAD * 10 + i + 7 * m + async);
        put(myB, 0, i, -1);
      }
      upc_barrier();
      h = upc_all_exchange(Bdata, Adata, NELEMS * sizeof(int),
                           in[m / 4] | out[m % 4] | (async ? UPC_ASYNC : 0));
      if (async && m % 2 == 0) upc_wait(h);
      while (async && upc_test(h) < 0)
        ;
      CHECK(h == UPC_HANDLE_COMPLETE);
      upc_barrier();
      for (i = 0; i < NELEMS * THREADS; i++)
        CHECK(get(myB, 0, i) == i / NELEMS * 10 + NELEMS * MYTHREAD + i % NELEMS + 7 * m + async);
    }
  upc_all_free(Adata);
  upc_all_free(Bdata);
}

static void split_barriers(void) {
  int i;
  for (i = 0; i < 100; i++) {
    put(A1, 1, MYTHREAD, i);
    upc_notify(i);
    upc_barrier_wait(i);
    CHECK(get(A1, 1, (MYTHREAD + 1) % THREADS) == i);
    upc_notify();
    upc_wait();
  }
  upc_barrier(5);
}

/* Cray's pipelined loop, ten rounds. */
static void pipeline(void) {
  const size_t nbytes = 3000, share = nbytes * (size_t)THREADS;
  int i = 0, round, t;
  upc_handle_t h = UPC_COMPLETE_HANDLE;
  upc_shared_ptr_t d[2], s[2];
  d[0] = upc_all_alloc((size_t)(4 * THREADS), share);
  d[1] = upc_ptradd(d[0], share, 1, (ptrdiff_t)share * THREADS);
  s[0] = upc_ptradd(d[1], share, 1, (ptrdiff_t)share * THREADS);
  s[1] = upc_ptradd(s[0], share, 1, (ptrdiff_t)share * THREADS);
  for (round = 0;; i = 1 - i, round++) {
    unsigned char* mine;
    if (round < 10) {
      mine = upc_cast(upc_ptradd(s[i], share, 1, (ptrdiff_t)share * MYTHREAD));
      for (t = 0; t < THREADS; t++)
        memset(mine + (size_t)t * nbytes, round * 16 + MYTHREAD, nbytes);
    }
    upc_sync(h);
    if (round > 0) {
      mine = upc_cast(upc_ptradd(d[1 - i], share, 1, (ptrdiff_t)share * MYTHREAD));
      for (t = 0; t < THREADS; t++)
        CHECK(mine[(size_t)t * nbytes] == (unsigned char)((round - 1) * 16 + t) &&
              mine[(size_t)(t + 1) * nbytes - 1] == (unsigned char)((round - 1) * 16 + t));
    }
    if (round == 10) break;
    h = cray_upc_team_alltoall_nb(d[i], s[i], nbytes, CRAY_UPC_TEAM_ALL);
  }
  cray_upc_team_barrier(CRAY_UPC_TEAM_ALL);
  cray_upc_team_alltoall_nbi(d[0], s[0], nbytes, CRAY_UPC_TEAM_ALL);
  upc_synci();
  CHECK(upc_synci_attempt());
  upc_barrier();
  upc_all_free(d[0]);
}

/* Before weft_init, as shared arrays of a program are. */
__attribute__((constructor)) static void register_before_init(void) {
  register_arrays();
}

WEFT_SUITE(c_program) {
  if (argc > 1 && strcmp(argv[1], "fail") == 0) {
    if (MYTHREAD == THREADS - 1) upc_all_exchange(A1, UPC_SHARED_NULL, 8, 0);
    upc_barrier();
    return 0; /* the job was ended long before */
  }
  registered_arrays_are_zero();
  broadcasts();
  scatters();
  gathers();
  gather_alls();
  exchanges();
  split_barriers();
  pipeline();
  return failures == 0 ? 0 : 1;
}
