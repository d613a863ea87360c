// SPDX-License-Identifier: BSD-3-Clause
/* The completion of several handles in C over a runtime that only records, and what a failed call does. */
#include "tests/api/c_check.h"

#include <upc.h>
#include <upc_collective.h>

enum { count = 5 };
static upc_shared_ptr_t dst, src;
static upc_coll_handle_t h[count];
static int indices[count];

/* Five posted operations, of which those with a bit in `complete` are complete through a copy. */
static void post(unsigned complete) {
  int i;
  for (i = 0; i < count; i++) {
    h[i] = upc_all_exchange(dst, src, 8, UPC_ASYNC);
    if (complete >> i & 1) upc_wait_value(h[i]);
  }
}

static int active(void) {
  int i, n = 0;
  for (i = 0; i < count; i++)
    n += h[i] != UPC_HANDLE_COMPLETE;
  return n;
}

static void any(void) {
  int first, second;
  post(10);
  first = upc_waitany(count, h);
  second = upc_testany(count, h);
  CHECK((first == 1 && second == 3) || (first == 3 && second == 1));
  CHECK(h[1] == UPC_HANDLE_COMPLETE && h[3] == UPC_HANDLE_COMPLETE && active() == 3);
  CHECK(upc_testany(count, h) == -1);
  upc_waitall(count, h);
  CHECK(active() == 0);
  CHECK(upc_waitany(count, h) == -2 && upc_testany(count, h) == -2);
}

static void all(void) {
  post(15);
  CHECK(upc_testall(count, h) < 0);
  CHECK(active() == 5);
  upc_wait_value(h[4]);
  CHECK(upc_testall(count, h) > 0);
  CHECK(active() == 0);
  CHECK(upc_testall(0, NULL) > 0);
}

static void some(void) {
  post(21);
  CHECK(weft_waitsome_indices(count, h, indices) == 3);
  CHECK(indices[0] == 0 && indices[1] == 2 && indices[2] == 4);
  CHECK(active() == 2 && h[1] != UPC_HANDLE_COMPLETE);
  CHECK(weft_testsome_indices(count, h, indices) == 0 && upc_testsome(count, h) == 0);
  upc_wait_value(h[3]);
  CHECK(upc_waitsome(count, h) == 1);
  upc_waitall(count, h);
  CHECK(upc_waitsome(count, h) == 0);
}

static void errors(void) {
  post(0);
  CHECK(upc_waitany(-1, h) == -1);
  CHECK(reported("upc_waitany", "count"));
  CHECK(upc_testsome(count, NULL) == 0);
  CHECK(reported("upc_testsome", "handles"));
  CHECK(weft_waitsome_indices(count, h, NULL) == 0);
  CHECK(reported("weft_waitsome_indices", "indices"));
  h[2] = 123456;
  CHECK(upc_testall(count, h) < 0);
  CHECK(reported("upc_testall", "handles[2]"));
  upc_waitall(count, h);
  CHECK(reported("upc_waitall", "handles[2]"));
  CHECK(upc_waitany(count, h) == -1);
  CHECK(reported("upc_waitany", "handles[2]"));
  CHECK(upc_testany(count, h) == -1);
  CHECK(reported("upc_testany", "handles[2]"));
  CHECK(active() == 5);
  h[2] = UPC_HANDLE_COMPLETE;
  upc_waitall(count, h);
}

int main(int argc, char** argv) {
  weft_set_error_handler(keep);
  weft_init(&argc, &argv);
  dst = upc_all_alloc((size_t)THREADS, 64);
  src = upc_all_alloc((size_t)THREADS, 64);
  any();
  all();
  some();
  errors();
  CHECK(handled == 0);
  weft_finalize();
  return failures == 0 ? 0 : 1;
}
