// SPDX-License-Identifier: BSD-3-Clause
/* Every C function, called wrongly: the handler is called once, by the right name; if it returns, the call
 * returns what docs/semantics.md says; if it leaves by longjmp, nothing stays behind. */
#include "c_check.h"

#include <limits.h>
#include <setjmp.h>
#include <stdlib.h>
#include <upc_castable.h>
#include <upc_collective.h>
#include <upc_collective_cray.h>
#include <upc_nb.h>

#define NOWHERE ((upc_shared_ptr_t){(uint64_t)1 << 50, 0, 0})
#define NULLP UPC_SHARED_NULL
#define NO_FLAG 0x400
#define NO_TEAM 99u
#define NO_HANDLE 0xffffffffffff0000ull

static jmp_buf back;
static int leaves;
static int calls;

static void leave_or_return(const char* message, const weft_error_info_t* info) {
  keep(message, info);
  if (leaves) longjmp(back, 1);
}

static int null_pointer(upc_shared_ptr_t p) {
  return upc_isnull(p);
}

static upc_coll_handle_t handle = NO_HANDLE, handles[1] = {NO_HANDLE};
static upc_team_t team;
static int members[1] = {77}, indices[1];
static char own[8];

/* Wrong calls in order, each with what must hold of its result. */
#define WRONG(name, expression)                                                                              \
  case __COUNTER__:                                                                                          \
    last = name;                                                                                             \
    returned = 0;                                                                                            \
    CHECK(expression);                                                                                       \
    returned = 1;                                                                                            \
    break
#define WRONG_VOID(name, statement)                                                                          \
  case __COUNTER__:                                                                                          \
    last = name;                                                                                             \
    returned = 0;                                                                                            \
    statement;                                                                                               \
    returned = 1;                                                                                            \
    break

static const char* last;
static int returned;

static int wrong_call(int number) {
  switch (number) {
    WRONG_VOID("weft_init", weft_init(NULL, NULL));
    WRONG("weft_statistic", weft_statistic(NULL) == 0);
    WRONG("upc_ptradd", null_pointer(upc_ptradd(NOWHERE, 1, 0, 1)));
    WRONG("upc_ptrdiff", upc_ptrdiff(NOWHERE, NOWHERE, 1, 0) == 0);
    WRONG("upc_ptrcmp", upc_ptrcmp(NOWHERE, NOWHERE, (size_t)1 << 32, 1) == 0);
    WRONG("upc_affinitysize", upc_affinitysize(8, 8, 77) == 0);
    WRONG("upc_all_alloc", null_pointer(upc_all_alloc(SIZE_MAX, 2)));
    WRONG("upc_global_alloc", null_pointer(upc_global_alloc(SIZE_MAX, 2)));
    WRONG("upc_alloc", null_pointer(upc_alloc(SIZE_MAX)));
    WRONG_VOID("upc_free", upc_free(NOWHERE));
    WRONG_VOID("upc_all_free", upc_all_free(NOWHERE));
    WRONG_VOID("weft_register_shared", weft_register_shared(NULL, 1, 1, 1, 0));
    WRONG_VOID("upc_memcpy", upc_memcpy(NOWHERE, NULLP, 8));
    WRONG_VOID("upc_memget", upc_memget(own, NOWHERE, 8));
    WRONG_VOID("upc_memput", upc_memput(NOWHERE, own, 8));
    WRONG_VOID("upc_memset", upc_memset(NOWHERE, 0, 8));
    WRONG_VOID("upc_wait", upc_wait());
    WRONG_VOID("upc_wait", upc_barrier_wait(3));
    WRONG_VOID("upc_wait", upc_wait(handle));
    WRONG_VOID("upc_wait", upc_wait_value(NO_HANDLE));
    WRONG("upc_test", upc_test(handle) == -1);
    WRONG("upc_test", upc_test_value(NO_HANDLE) == -1);
    WRONG("upc_get_status", upc_get_status(NO_HANDLE) == -1);
    WRONG("upc_waitany", upc_waitany(-1, handles) == -1);
    WRONG("upc_testany", upc_testany(1, NULL) == -1);
    WRONG_VOID("upc_waitall", upc_waitall(1, handles));
    WRONG("upc_testall", upc_testall(1, handles) == -1);
    WRONG("upc_waitsome", upc_waitsome(INT_MIN, handles) == 0);
    WRONG("upc_testsome", upc_testsome(1, NULL) == 0);
    WRONG("weft_waitany_for", weft_waitany_for(-1, handles, 0) == -1);
    WRONG("weft_waitsome_indices", weft_waitsome_indices(1, handles, NULL) == 0);
    WRONG("weft_testsome_indices", weft_testsome_indices(-1, handles, indices) == 0);
    WRONG("upc_memcpy_nb", upc_memcpy_nb(NOWHERE, NULLP, 8) == UPC_COMPLETE_HANDLE);
    WRONG("upc_memget_nb", upc_memget_nb(own, NOWHERE, 8) == UPC_COMPLETE_HANDLE);
    WRONG("upc_memput_nb", upc_memput_nb(NOWHERE, own, 8) == UPC_COMPLETE_HANDLE);
    WRONG("upc_memset_nb", upc_memset_nb(NOWHERE, 0, 8) == UPC_COMPLETE_HANDLE);
    WRONG_VOID("upc_memcpy_nbi", upc_memcpy_nbi(NOWHERE, NULLP, 8));
    WRONG_VOID("upc_memget_nbi", upc_memget_nbi(own, NOWHERE, 8));
    WRONG_VOID("upc_memput_nbi", upc_memput_nbi(NOWHERE, own, 8));
    WRONG_VOID("upc_memset_nbi", upc_memset_nbi(NOWHERE, 0, 8));
    WRONG_VOID("upc_sync", upc_sync(NO_HANDLE));
    WRONG("upc_sync_attempt", upc_sync_attempt(NO_HANDLE) == 0);
    WRONG("upc_cast", upc_cast(NOWHERE) == NULL);
    WRONG("upc_thread_info", upc_thread_info(77).guaranteedCastable == 0);
    WRONG("upc_all_broadcast", upc_all_broadcast(NULLP, NULLP, 8, 0) == UPC_HANDLE_COMPLETE);
    WRONG("upc_all_scatter", upc_all_scatter(NOWHERE, NULLP, 8, 0) == UPC_HANDLE_COMPLETE);
    WRONG("upc_all_gather", upc_all_gather(NOWHERE, NOWHERE, 8, NO_FLAG) == UPC_HANDLE_COMPLETE);
    WRONG("upc_all_gather_all", upc_all_gather_all(NULLP, NULLP, SIZE_MAX, 0) == UPC_HANDLE_COMPLETE);
    WRONG("upc_all_exchange", upc_all_exchange(NULLP, NULLP, 8, UPC_ASYNC) == UPC_HANDLE_COMPLETE);
    WRONG("upc_all_permute", upc_all_permute(NULLP, NULLP, NULLP, 8, 0) == UPC_HANDLE_COMPLETE);
    WRONG("upc_all_broadcast_team",
          upc_all_broadcast_team(NULLP, NULLP, 8, UPC_ASYNC, NO_TEAM) == UPC_HANDLE_COMPLETE);
    WRONG("upc_all_scatter_team", upc_all_scatter_team(NULLP, NULLP, 8, 0, NO_TEAM) == UPC_HANDLE_COMPLETE);
    WRONG("upc_all_gather_team", upc_all_gather_team(NULLP, NULLP, 8, 0, NO_TEAM) == UPC_HANDLE_COMPLETE);
    WRONG("upc_all_gather_all_team",
          upc_all_gather_all_team(NULLP, NULLP, 8, 0, NO_TEAM) == UPC_HANDLE_COMPLETE);
    WRONG("upc_all_exchange_team", upc_all_exchange_team(NULLP, NULLP, 8, 0, NO_TEAM) == UPC_HANDLE_COMPLETE);
    WRONG("upc_all_permute_team",
          upc_all_permute_team(NULLP, NULLP, NULLP, 8, 0, NO_TEAM) == UPC_HANDLE_COMPLETE);
    WRONG("upc_all_broadcast_x",
          upc_all_broadcast_x(NULLP, NULLP, 8, 0, UPC_TEAM_ALL) == UPC_HANDLE_COMPLETE);
    WRONG("upc_all_scatter_x",
          upc_all_scatter_x(NULLP, NULLP, NULLP, 0, UPC_TEAM_ALL) == UPC_HANDLE_COMPLETE);
    WRONG("upc_all_gather_x", upc_all_gather_x(NULLP, NULLP, NULLP, 0, UPC_TEAM_ALL) == UPC_HANDLE_COMPLETE);
    WRONG("upc_all_gather_all_x",
          upc_all_gather_all_x(NULLP, NULLP, NULLP, 0, UPC_TEAM_ALL) == UPC_HANDLE_COMPLETE);
    WRONG("upc_all_exchange_x",
          upc_all_exchange_x(NULLP, NULLP, NULLP, 0, UPC_TEAM_ALL) == UPC_HANDLE_COMPLETE);
    WRONG("upc_all_permute_x",
          upc_all_permute_x(NULLP, NULLP, NULLP, NULLP, 0, UPC_TEAM_ALL) == UPC_HANDLE_COMPLETE);
    WRONG("upc_all_permute_xi",
          upc_all_permute_xi(NULLP, NULLP, NULLP, NULLP, 0, UPC_TEAM_ALL) == UPC_HANDLE_COMPLETE);
    WRONG("weft_all_move_x",
          weft_all_move_x(WEFT_MOVE_EXCHANGE, NULLP, NULLP, 8, 0, 0, UPC_TEAM_ALL) == UPC_HANDLE_COMPLETE);
    WRONG("weft_team_from_threads", weft_team_from_threads(UPC_TEAM_ALL, 1, members, &team) == -1);
    WRONG_VOID("cray_upc_team_alltoall", cray_upc_team_alltoall(NULLP, NULLP, 8, CRAY_UPC_TEAM_ALL));
    WRONG("cray_upc_team_alltoall_nb",
          cray_upc_team_alltoall_nb(NULLP, NULLP, 8, CRAY_UPC_TEAM_ALL) == UPC_COMPLETE_HANDLE);
    WRONG("cray_upc_team_alltoall_nbi",
          cray_upc_team_alltoall_nbi(NULLP, NULLP, 8, CRAY_UPC_TEAM_ALL) == UPC_COMPLETE_HANDLE);
    WRONG_VOID("cray_upc_team_barrier", cray_upc_team_barrier(NO_TEAM));
    WRONG("cray_upc_team_barrier_nb", cray_upc_team_barrier_nb(NO_TEAM) == UPC_COMPLETE_HANDLE);
    WRONG("cray_upc_team_split", cray_upc_team_split(CRAY_UPC_TEAM_ALL, 0, 0, NULL) == CRAY_UPC_ERROR);
    WRONG("weft_team_thread", weft_team_thread(NO_TEAM, 0) == -1);
    WRONG("weft_team_rank_of", weft_team_rank_of(NO_TEAM, 0) == -1);
    WRONG("weft_put_signal", weft_put_signal(NULLP, NULL, 0, NULLP, 1, WEFT_SIGNAL_ADD) == 0);
    WRONG("weft_put_rows", weft_put_rows(NULLP, 8, NULL, 8, 8, 2, NULLP, 1, WEFT_SIGNAL_ADD) == 0);
    WRONG("weft_get_rows", weft_get_rows(NULL, 8, NULLP, 8, 8, 2) == 0);
    WRONG("weft_wait_until", weft_wait_until(NULLP, WEFT_CMP_GE, 1) == 0);
    WRONG("weft_test_until", weft_test_until(NULLP, WEFT_CMP_GE, 1) == 0);
    WRONG("cray_upc_team_rank", cray_upc_team_rank(NO_TEAM) == -1);
    WRONG("cray_upc_team_size", cray_upc_team_size(NO_TEAM) == 0);
    WRONG("cray_upc_team_scan", cray_upc_team_scan(NULLP, NULLP, 1, CRAY_UPC_INT, UPC_ADD, CRAY_UPC_TEAM_ALL,
                                                   NULL) == CRAY_UPC_ERROR);
    WRONG("cray_upc_team_exscan", cray_upc_team_exscan(NULLP, NULLP, 1, CRAY_UPC_INT, UPC_ADD,
                                                       CRAY_UPC_TEAM_ALL, NULL) == CRAY_UPC_ERROR);
    WRONG("cray_upc_team_reduce_scatter",
          cray_upc_team_reduce_scatter(NULLP, NULLP, 1, CRAY_UPC_INT, UPC_ADD, CRAY_UPC_TEAM_ALL, NULL) ==
              CRAY_UPC_ERROR);
    WRONG("cray_upc_team_reduce_scatterv",
          cray_upc_team_reduce_scatterv(NULLP, NULLP, NULL, CRAY_UPC_INT, UPC_ADD, CRAY_UPC_TEAM_ALL, NULL) ==
              CRAY_UPC_ERROR);
    WRONG("cray_upc_team_alltoallv", cray_upc_team_alltoallv(NULLP, NULL, NULL, NULLP, NULL, NULL,
                                                             CRAY_UPC_TEAM_ALL, NULL) == CRAY_UPC_ERROR);
    WRONG("cray_upc_team_allgatherv",
          cray_upc_team_allgatherv(NULLP, NULL, NULL, NULLP, 8, CRAY_UPC_TEAM_ALL, NULL) == CRAY_UPC_ERROR);
    WRONG("cray_upc_team_gatherv",
          cray_upc_team_gatherv(NULLP, NULL, NULL, NULLP, 8, -1, CRAY_UPC_TEAM_ALL, NULL) == CRAY_UPC_ERROR);
    WRONG("cray_upc_team_scatterv",
          cray_upc_team_scatterv(NULLP, 8, NULLP, NULL, NULL, -1, CRAY_UPC_TEAM_ALL, NULL) == CRAY_UPC_ERROR);
    WRONG("cray_upc_op_create", cray_upc_op_create(NULL, 1, NULL) == CRAY_UPC_ERROR);
    WRONG("weft_op_create", weft_op_create(NULL, NULL, 8, 1, NULL) == CRAY_UPC_ERROR);
    WRONG_VOID("cray_upc_op_free", cray_upc_op_free(UPC_ADD));
    WRONG_VOID("cray_upc_team_free", cray_upc_team_free(CRAY_UPC_TEAM_ALL));
  default:
    return 0;
  }
  return 1;
}

/* Before weft_init. */
static void absent(void) {
  CHECK(upc_mythread() == -1 && reported("MYTHREAD", ""));
  CHECK(upc_threads() == 0 && reported("THREADS", ""));
  weft_finalize();
  CHECK(reported("weft_finalize", ""));
  upc_barrier();
  CHECK(reported("upc_barrier", ""));
  upc_notify(4);
  CHECK(reported("upc_notify", ""));
}

/* Played by c_interface_test.c. */
int play_returns(void);
int play_returns(void) {
  weft_set_error_handler(leave_or_return);
  absent();
  weft_init(NULL, NULL);
  for (leaves = 0; leaves != 2; ++leaves)
    for (volatile int number = 0;; ++number) {
      handled = 0;
      if (setjmp(back) == 0) {
        if (!wrong_call(number)) break;
      }
      ++calls;
      const int right = handled == 1 && strcmp(last_call, last) == 0 && returned == !leaves;
      if (!right) fprintf(stderr, "%s: handled %d times, of %s\n", last, handled, last_message);
      CHECK(right);
      /* Neither half of a barrier, nor anything else, was left behind. */
      handled = 0;
      upc_barrier();
      CHECK(handled == 0);
    }
  CHECK(calls > 140);
  leaves = 0;
  upc_notify(7);
  handled = 0;
  upc_barrier_wait(8);
  CHECK(reported("upc_wait", "value"));
  upc_barrier();
  CHECK(reported("upc_barrier", ""));
  upc_barrier_wait(7);
  weft_finalize();
  CHECK(handled == 0);
  return failures != 0;
}
