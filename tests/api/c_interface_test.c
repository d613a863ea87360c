// SPDX-License-Identifier: BSD-3-Clause
/* The C interface over a runtime that only records: every form of the macros, and what a failed call does. */
#include "tests/api/c_check.h"

#include <setjmp.h>
#include <stdlib.h>
#include <upc.h>
#include <upc_castable.h>
#include <upc_collective.h>
#include <upc_collective_cray.h>
#include <upc_collective_ext.h>
#include <upc_nb.h>

static upc_coll_handle_t id(upc_coll_handle_t h) {
  return h;
}

static upc_shared_ptr_t before; /* registered before weft_init */
static upc_shared_ptr_t after;

static void barriers(void) {
  int value = 3;
  upc_barrier();
  upc_barrier(3);
  upc_barrier((3));
  upc_barrier(value + 1);
  upc_notify();
  upc_wait();
  upc_notify((int)3);
  upc_barrier_wait(3);
  upc_notify(value);
  upc_barrier_wait(value + 1);
  CHECK(reported("upc_wait", "value"));
  upc_wait();
  upc_wait();
  CHECK(reported("upc_wait", ""));
}

static void handles(upc_shared_ptr_t dst, upc_shared_ptr_t src) {
  upc_coll_handle_t h[2], *p = h;
  struct {
    upc_coll_handle_t member;
  } s;
  h[0] = upc_all_exchange(dst, src, 8, UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
  h[1] = h[0];
  s.member = upc_all_gather_all(dst, src, 8, UPC_ASYNC);
  CHECK(h[0] != UPC_HANDLE_COMPLETE);
  CHECK(upc_test(h[1]) < 0);
  CHECK(upc_get_status(h[1]) < 0);
  upc_wait(h[0]);
  CHECK(h[0] == UPC_HANDLE_COMPLETE);
  CHECK(upc_get_status(h[1]) > 0);
  CHECK(upc_test(h[1]) > 0);
  CHECK(h[1] == UPC_HANDLE_COMPLETE);
  upc_wait(s.member);
  CHECK(s.member == UPC_HANDLE_COMPLETE);
  *p = upc_all_broadcast(dst, src, 8, UPC_ASYNC);
  upc_wait(*p);
  CHECK(*p == UPC_HANDLE_COMPLETE);
  *p = upc_all_broadcast(dst, src, 8, UPC_ASYNC);
  upc_wait((*p));
  CHECK(*p == UPC_HANDLE_COMPLETE);
  upc_wait_value(id(upc_all_broadcast(dst, src, 8, UPC_ASYNC)));
  upc_wait_value(upc_all_scatter(dst, src, 8, UPC_ASYNC));
  upc_wait_value(upc_all_gather(dst, src, 8, UPC_ASYNC));
  upc_wait_value(UPC_HANDLE_COMPLETE);
  CHECK(upc_test_value(UPC_HANDLE_COMPLETE) > 0);
}

static void errors(upc_shared_ptr_t dst, upc_shared_ptr_t src) {
  upc_coll_handle_t never = 12345;
  CHECK(upc_all_exchange(dst, UPC_SHARED_NULL, 8, 0) == UPC_HANDLE_COMPLETE);
  CHECK(reported("upc_all_exchange", "src"));
  CHECK(upc_all_scatter(dst, UPC_SHARED_NULL, 8, 0) == UPC_HANDLE_COMPLETE);
  CHECK(reported("upc_all_scatter", "src"));
  CHECK(upc_all_gather(UPC_SHARED_NULL, src, 8, 0) == UPC_HANDLE_COMPLETE);
  CHECK(reported("upc_all_gather", "dst"));
  CHECK(upc_isnull(upc_all_alloc(4, (size_t)1 << 40)));
  CHECK(strstr(last_message, "WEFT_HEAP_SIZE") != NULL);
  CHECK(reported("upc_all_alloc", "nblocks * nbytes"));
  CHECK(upc_test(never) < 0);
  CHECK(reported("upc_test", "handle"));
  CHECK(never == 12345);
  CHECK(upc_get_status(never) < 0);
  CHECK(reported("upc_get_status", "handle"));
  upc_wait(never);
  CHECK(reported("upc_wait", "handle"));
  CHECK(cray_upc_team_alltoall_nb(dst, src, 8, 99) == UPC_COMPLETE_HANDLE);
  CHECK(reported("cray_upc_team_alltoall_nb", "team"));
  weft_register_shared(NULL, 1, 4, 4, 0);
  CHECK(reported("weft_register_shared", "where"));
  weft_register_shared(&after, 1, 0, 4, 0);
  CHECK(reported("weft_register_shared", "elem_size"));
}

static jmp_buf escape;
static void leave(const char* message, const weft_error_info_t* info) {
  (void)message;
  (void)info;
  longjmp(escape, 1);
}

static void a_handler_may_leave(void) {
  volatile int left = 0;
  const weft_error_handler_t old = weft_set_error_handler(leave);
  CHECK(old == keep);
  for (volatile int i = 0; i != 3; ++i)
    if (setjmp(escape) == 0)
      upc_memset(UPC_SHARED_NULL, 0, 8);
    else
      ++left;
  CHECK(left == 3);
  weft_set_error_handler(old);
}

static void arrays(void) {
  int value = 7, got = 0;
  CHECK(upc_isnull(upc_resetphase(before)) == 0);
  upc_memput(upc_ptradd(before, 2, sizeof(int), 5), &value, sizeof value);
  upc_memget(&got, upc_ptradd(before, 2, sizeof(int), 5), sizeof got);
  CHECK(got == 7);
  weft_register_shared(&after, 0, sizeof(int), 10, WEFT_PER_THREAD);
  CHECK(!upc_isnull(after));
  CHECK(upc_cast(after) != NULL);
  CHECK(*(int*)upc_cast(after) == 0);
}

int play_returns(void); /* of c_returns_test.c */

int main(int argc, char** argv) {
  upc_shared_ptr_t dst, src;
  if (argc > 1 && strcmp(argv[1], "returns") == 0) return play_returns();
  weft_set_error_handler(keep);
  CHECK(upc_mythread() == -1);
  CHECK(reported("MYTHREAD", ""));
  weft_register_shared(&before, 2, sizeof(int), 3, WEFT_PER_THREAD);
  CHECK(upc_isnull(before));
  weft_init(&argc, &argv);
  CHECK(handled == 0);
  CHECK(THREADS == 4 && MYTHREAD == 0);
  dst = upc_all_alloc((size_t)THREADS, 64);
  src = upc_all_alloc((size_t)THREADS, 64);
  if (argc > 1) { /* the default handler ends the job */
    weft_set_error_handler(NULL);
    upc_all_exchange(dst, src, 8, UPC_IN_NOSYNC | UPC_IN_MYSYNC);
    printf("went on\n");
    return 0;
  }
  barriers();
  handles(dst, src);
  errors(dst, src);
  a_handler_may_leave();
  arrays();
  cray_upc_team_barrier(CRAY_UPC_TEAM_ALL);
  upc_synci();
  CHECK(handled == 0);
  weft_finalize();
  CHECK(upc_isnull(before) && upc_isnull(after));
  CHECK(handled == 0);
  return failures == 0 ? 0 : 1;
}
