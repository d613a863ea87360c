// SPDX-License-Identifier: BSD-3-Clause
/* The examples of Extended Collective Operations V0.3, 5.3, line by line, whose results are its figures, and
 * what 5.4 says of completion; results checked. */
#include "c_check.h"

#include <string.h>
#include <upc_collective.h>
#include <upc_collective_ext.h>

#define BLK 9
#define NELEMS (BLK * THREADS)

static upc_shared_ptr_t A, B;   /* shared [] char * shared [1] A[THREADS], B[THREADS]; */
static upc_shared_ptr_t nBytes; /* shared [1] size_t nBytes[THREADS]; */
static upc_shared_ptr_t P;      /* shared [1] int P[THREADS]; */
static upc_shared_ptr_t PS;     /* the same as size_t, as the prototype has it */
static upc_shared_ptr_t C1, C2; /* shared [BLK] char C1[NELEMS], C2[NELEMS]; */
static upc_shared_ptr_t D1, D2; /* shared [BLK] char D1[NELEMS], D2[NELEMS]; */
static upc_shared_ptr_t AA,
    BB;                     /* shared [] char * shared [THREADS] A[THREADS*THREADS], B[THREADS*THREADS]; */
static upc_shared_ptr_t NN; /* shared [THREADS] size_t nbytes[THREADS*THREADS]; */

void v0_3_arrays(void) {
  weft_register_shared(&A, 1, sizeof(upc_shared_ptr_t), 1, WEFT_PER_THREAD);
  weft_register_shared(&B, 1, sizeof(upc_shared_ptr_t), 1, WEFT_PER_THREAD);
  weft_register_shared(&nBytes, 1, sizeof(size_t), 1, WEFT_PER_THREAD);
  weft_register_shared(&P, 1, sizeof(int), 1, WEFT_PER_THREAD);
  weft_register_shared(&PS, 1, sizeof(size_t), 1, WEFT_PER_THREAD);
  weft_register_shared(&C1, BLK, sizeof(char), BLK, WEFT_PER_THREAD);
  weft_register_shared(&C2, BLK, sizeof(char), BLK, WEFT_PER_THREAD);
  weft_register_shared(&D1, BLK, sizeof(char), BLK, WEFT_PER_THREAD);
  weft_register_shared(&D2, BLK, sizeof(char), BLK, WEFT_PER_THREAD);
}

/* (shared [] char *)&(array[i]) */
static upc_shared_ptr_t at(upc_shared_ptr_t array, int i) {
  return upc_resetphase(ADDRESS(char, BLK, array, i));
}

static void initialize(void) {
  const upc_shared_ptr_t null = UPC_SHARED_NULL;
  int i;
  for (i = BLK * MYTHREAD; i < BLK * (MYTHREAD + 1); i++) {
    put_char(C1, BLK, i, "ABCDEFGHIJKLMNOPQRSTUVWXYZ@"[i]);
    put_char(C2, BLK, i, "abcdefghijklmnopqrstuvwxyz#"[i]);
    put_char(D1, BLK, i, '.');
    put_char(D2, BLK, i, '.');
  }
  /* What another example left must not help. */
  put_ptr(A, 1, MYTHREAD, null);
  put_ptr(B, 1, MYTHREAD, null);
  for (i = 0; i < THREADS; i++) {
    put_ptr(AA, THREADS, THREADS * MYTHREAD + i, null);
    put_ptr(BB, THREADS, THREADS * MYTHREAD + i, null);
  }
  upc_barrier();
}

/* The figure, thread by thread. */
static void check_figure(const char* d1, const char* d2, const char* file, int line) {
  int i;
  for (i = 0; i < NELEMS; i++) {
    check(get_char(D1, BLK, i) == d1[i + i / BLK], d1, file, line);
    check(get_char(D2, BLK, i) == d2[i + i / BLK], d2, file, line);
  }
  upc_barrier();
}
#define CHECK_FIGURE(d1, d2) check_figure(d1, d2, __FILE__, __LINE__)

/* The handle of a call that was posted, and of one that was not, is complete in the end. */
static void complete(upc_coll_handle_t handle, upc_flag_t mode) {
  CHECK((handle != UPC_HANDLE_COMPLETE) == ((mode & UPC_ASYNC) != 0));
  upc_wait(handle);
  CHECK(handle == UPC_HANDLE_COMPLETE);
}

static void broadcast_x(upc_flag_t mode) {
  initialize();
  if (MYTHREAD == 0) {
    put_ptr(B, 1, 0, at(D1, 0));
    put_ptr(B, 1, 1, at(D2, 11));
    put_ptr(B, 1, 2, at(D2, 23));
  }

  complete(upc_all_broadcast_x(B, ADDRESS(char, BLK, C1, 1), 4 * sizeof(char), mode, UPC_TEAM_ALL), mode);

  CHECK_FIGURE("BCDE..... ......... .........", "......... ..BCDE... .....BCDE");
}

static void scatter_x(upc_flag_t mode) {
  initialize();
  if (MYTHREAD == 0) {
    put_size(nBytes, 1, 0, 2 * sizeof(char));
    put_size(nBytes, 1, 1, 3 * sizeof(char));
    put_size(nBytes, 1, 2, 1 * sizeof(char));

    put_ptr(A, 1, 0, at(C1, 1));
    put_ptr(A, 1, 1, at(C2, 3));
    put_ptr(A, 1, 2, at(C2, 8));

    put_ptr(B, 1, 0, at(D1, 5));
    put_ptr(B, 1, 1, at(D2, 9));
    put_ptr(B, 1, 2, at(D1, 19));
  }

  complete(upc_all_scatter_x(B, A, nBytes, mode, UPC_TEAM_ALL), mode);

  CHECK_FIGURE(".....BC.. ......... .i.......", "......... def...... .........");
}

/* nBytes and A of the figures 3 and 4. */
static void initialize_gather_x(void) {
  put_size(nBytes, 1, 0, 2 * sizeof(char));
  put_size(nBytes, 1, 1, 3 * sizeof(char));
  put_size(nBytes, 1, 2, 1 * sizeof(char));

  put_ptr(A, 1, 0, at(C1, 5));
  put_ptr(A, 1, 1, at(C2, 9));
  put_ptr(A, 1, 2, at(C1, 19));
}

static void gather_x(upc_flag_t mode) {
  initialize();
  if (MYTHREAD == 0) {
    initialize_gather_x();

    put_ptr(B, 1, 0, at(D1, 1));
    put_ptr(B, 1, 1, at(D2, 3));
    put_ptr(B, 1, 2, at(D2, 8));
  }

  complete(upc_all_gather_x(B, A, nBytes, mode, UPC_TEAM_ALL), mode);

  CHECK_FIGURE(".FG...... ......... .........", "...jkl..T ......... .........");
}

static void gather_all_x(upc_flag_t mode) {
  initialize();
  if (MYTHREAD == 0) {
    initialize_gather_x();

    put_ptr(BB, THREADS, 0, at(D1, 1));
    put_ptr(BB, THREADS, 1, at(D2, 3));
    put_ptr(BB, THREADS, 2, at(D2, 8));
    put_ptr(BB, THREADS, 3, at(D2, 10));
    put_ptr(BB, THREADS, 4, at(D1, 12));
    put_ptr(BB, THREADS, 5, at(D1, 17));
    put_ptr(BB, THREADS, 6, at(D2, 18));
    put_ptr(BB, THREADS, 7, at(D2, 21));
    put_ptr(BB, THREADS, 8, at(D2, 25));
  }

  complete(upc_all_gather_all_x(BB, A, nBytes, mode, UPC_TEAM_ALL), mode);

  CHECK_FIGURE(".FG...... ...jkl..T .........", "...jkl..T .FG...... FG.jkl.T.");
}

static void exchange_x(upc_flag_t mode) {
  static const size_t nbytes[] = {2, 3, 1, 4, 2, 3, 1, 3, 4};
  initialize();
  if (MYTHREAD == 0) {
    int i;
    for (i = 0; i < 9; i++)
      put_size(NN, THREADS, i, nbytes[i] * sizeof(char));

    put_ptr(AA, THREADS, 0, at(C1, 1));
    put_ptr(AA, THREADS, 1, at(C2, 3));
    put_ptr(AA, THREADS, 2, at(C1, 7));
    put_ptr(AA, THREADS, 3, at(C2, 9));
    put_ptr(AA, THREADS, 4, at(C1, 13));
    put_ptr(AA, THREADS, 5, at(C2, 15));
    put_ptr(AA, THREADS, 6, at(C1, 18));
    put_ptr(AA, THREADS, 7, at(C1, 24));
    put_ptr(AA, THREADS, 8, at(C2, 20));

    put_ptr(BB, THREADS, 0, at(D2, 0));
    put_ptr(BB, THREADS, 1, at(D2, 3));
    put_ptr(BB, THREADS, 2, at(D1, 6));
    put_ptr(BB, THREADS, 3, at(D1, 9));
    put_ptr(BB, THREADS, 4, at(D2, 13));
    put_ptr(BB, THREADS, 5, at(D1, 15));
    put_ptr(BB, THREADS, 6, at(D2, 19));
    put_ptr(BB, THREADS, 7, at(D2, 22));
    put_ptr(BB, THREADS, 8, at(D1, 23));
  }

  complete(upc_all_exchange_x(BB, AA, NN, mode, UPC_TEAM_ALL), mode);

  CHECK_FIGURE("......S.. def...YZ@ .....uvwx", "BC.jklm.. ....NO... .H..pqr..");
}

/* perm is int in the example and size_t in the prototype. */
static void permute_x(upc_flag_t mode, int as_the_prototype_has_it) {
  initialize();
  if (MYTHREAD == 0) {
    put_int(P, 1, 0, 2);
    put_int(P, 1, 1, 0);
    put_int(P, 1, 2, 1);
    put_size(PS, 1, 0, 2);
    put_size(PS, 1, 1, 0);
    put_size(PS, 1, 2, 1);

    put_size(nBytes, 1, 0, 3 * sizeof(char));
    put_size(nBytes, 1, 1, 4 * sizeof(char));
    put_size(nBytes, 1, 2, 5 * sizeof(char));

    put_ptr(A, 1, 0, at(C1, 2));
    put_ptr(A, 1, 1, at(C2, 14));
    put_ptr(A, 1, 2, at(C1, 21));

    put_ptr(B, 1, 0, at(D2, 0));
    put_ptr(B, 1, 1, at(D1, 9));
    put_ptr(B, 1, 2, at(D1, 19));
  }

  if (as_the_prototype_has_it)
    complete(upc_all_permute_x(B, A, PS, nBytes, mode, UPC_TEAM_ALL), mode);
  else
    complete(upc_all_permute_xi(B, A, P, nBytes, mode, UPC_TEAM_ALL), mode);

  CHECK_FIGURE("......... VWXYZ.... .CDE.....", "opqr..... ......... .........");
}

/* 5.4: operation k sends 10 * k + 1 to every thread. */
#define COUNT 4
static upc_shared_ptr_t from, to;
static upc_coll_handle_t handles[COUNT];

static void post(void) {
  int k;
  for (k = 0; k < COUNT; k++) {
    if (MYTHREAD == 0) put_int(from, 1, k * THREADS, 10 * k + 1);
    put_int(to, 1, k * THREADS + MYTHREAD, 0);
    handles[k] = upc_all_broadcast(ADDRESS(int, 1, to, k* THREADS), ADDRESS(int, 1, from, k* THREADS),
                                   sizeof(int), UPC_IN_ALLSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
    CHECK(handles[k] != UPC_HANDLE_COMPLETE);
  }
}

static int active(void) {
  int k;
  for (k = 0; k < COUNT; k++)
    if (handles[k] != UPC_HANDLE_COMPLETE) return 1;
  return 0;
}
static void check_one(int k) {
  CHECK(k >= 0 && k < COUNT && handles[k] == UPC_HANDLE_COMPLETE &&
        get_int(to, 1, k * THREADS + MYTHREAD) == 10 * k + 1);
}
static void check_all(void) {
  int k;
  for (k = 0; k < COUNT; k++)
    check_one(k);
  upc_barrier();
}

static void completions(void) {
  upc_coll_handle_t posted[COUNT];
  int k, left, got;

  post(); /* 5.4.1 */
  for (k = COUNT - 1; k >= 0; k--) {
    upc_wait(handles[k]);
    check_one(k);
    upc_wait(handles[k]); /* of UPC_HANDLE_COMPLETE: a no-op */
  }
  check_all();

  post(); /* 5.4.2 */
  for (k = 0; k < COUNT; k++) {
    while (upc_test(handles[k]) < 0)
      CHECK(handles[k] != UPC_HANDLE_COMPLETE);
    check_one(k);
    CHECK(upc_test(handles[k]) > 0);
  }
  check_all();

  post(); /* 5.4.3 */
  for (left = COUNT; left != 0; left--)
    check_one(upc_waitany(COUNT, handles));
  check_all();

  post(); /* 5.4.4 */
  for (left = COUNT; left != 0; left--) {
    while ((k = upc_testany(COUNT, handles)) == -1)
      ;
    check_one(k);
  }
  CHECK(upc_testany(COUNT, handles) < 0);
  check_all();

  post(); /* 5.4.5 */
  upc_waitall(COUNT, handles);
  check_all();

  post(); /* 5.4.6 */
  memcpy(posted, handles, sizeof posted);
  while ((got = upc_testall(COUNT, handles)) < 0)
    CHECK(memcmp(posted, handles, sizeof posted) == 0); /* no handle is modified */
  CHECK(got > 0);
  check_all();

  post(); /* 5.4.7 */
  for (got = 0; active();) {
    const int now = upc_waitsome(COUNT, handles);
    CHECK(now > 0);
    got += now;
  }
  CHECK(got == COUNT);
  check_all();

  post(); /* 5.4.8 */
  got = 0;
  while (active())
    got += upc_testsome(COUNT, handles);
  CHECK(got == COUNT && upc_testsome(COUNT, handles) == 0);
  check_all();

  post(); /* 5.4.9 */
  for (k = 0; k < COUNT; k++) {
    while (upc_get_status(handles[k]) < 0)
      ;
    CHECK(handles[k] != UPC_HANDLE_COMPLETE); /* a call that completes is still to come */
    CHECK(upc_test(handles[k]) > 0);
    check_one(k);
  }
  check_all();
}

void v0_3(void) {
  int async;
  /* The number of elements has THREADS as a factor twice. */
  const size_t square = (size_t)(THREADS * THREADS);
  weft_register_shared(&AA, (size_t)THREADS, sizeof(upc_shared_ptr_t), square, 0);
  weft_register_shared(&BB, (size_t)THREADS, sizeof(upc_shared_ptr_t), square, 0);
  weft_register_shared(&NN, (size_t)THREADS, sizeof(size_t), square, 0);
  weft_register_shared(&from, 1, sizeof(int), COUNT, WEFT_PER_THREAD);
  weft_register_shared(&to, 1, sizeof(int), COUNT, WEFT_PER_THREAD);
  completions();
  if (THREADS != 3) return; /* as many as the examples have */
  for (async = 0; async < 2; async++) {
    const upc_flag_t pull = UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC | UPC_PULL | (async ? UPC_ASYNC : 0);
    const upc_flag_t push = UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC | UPC_PUSH | (async ? UPC_ASYNC : 0);
    broadcast_x(pull);
    scatter_x(pull);
    gather_x(push);
    gather_all_x(push);
    exchange_x(pull);
    permute_x(pull, 0);
    permute_x(pull, 1);
  }
}
