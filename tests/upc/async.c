/* A collective that was posted goes on while all threads do nothing but read and write shared memory: loads
 * and stores, no call. Each waits by such reads for the last word of its part, so if nothing moved it would
 * wait for ever; after half a minute it has failed. */
#include "tests/upc/check.h"

#include <time.h>

enum { words = 8192 };

static upcr_shared_ptr_t word(upcr_shared_ptr_t array, int thread, size_t i) {
  upcr_shared_ptr_t p = on(array, thread);
  p.addr += i * 8;
  return p;
}

WEFT_SUITE(upc_async) {
  begin_without_units();
  const size_t block = words * 8, threads = (size_t)THREADS;
  const upcr_shared_ptr_t src = upcr_all_alloc(threads, threads * block),
                          dst = upcr_all_alloc(threads, threads * block);
  const upcr_shared_ptr_t work = upcr_all_alloc(threads, 800);
  upcr_memset(on(dst, MYTHREAD), 0, threads * block);
  upcr_memset(on(work, MYTHREAD), 0, 800);
  for (size_t i = 0; i != threads * words; ++i)
    UPCR_PUT_SHARED_VAL(word(src, MYTHREAD, i), 0, (uint64_t)(MYTHREAD + 1) << 32 | i, 8);
  barrier();
  upc_coll_handle_t h = upc_all_exchange(dst, src, block, UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
  const time_t begin = time(NULL);
  size_t arrived = 0;
  uint64_t rounds = 0;
  while (arrived != threads && time(NULL) - begin < 30) {
    for (size_t i = 0; i != 100; ++i) /* the computation */
      UPCR_PUT_SHARED_VAL(word(work, MYTHREAD, i), 0, UPCR_GET_SHARED_VAL(word(work, MYTHREAD, i), 0, 8) + i,
                          8);
    ++rounds;
    if (UPCR_GET_SHARED_VAL(word(dst, MYTHREAD, (arrived + 1) * words - 1), 0, 8) != 0) ++arrived;
  }
  CHECK(arrived == threads);
  CHECK(UPCR_GET_SHARED_VAL(word(work, MYTHREAD, 99), 0, 8) == rounds * 99);
  weft_wait_handle(&h);
  for (size_t t = 0; t != threads; ++t)
    for (size_t i = 0; i != words; ++i)
      CHECK(UPCR_GET_SHARED_VAL(word(dst, MYTHREAD, t * words + i), 0, 8) ==
            ((uint64_t)(t + 1) << 32 | ((size_t)MYTHREAD * words + i)));
  barrier();
  upcr_all_free(work);
  upcr_all_free(dst);
  upcr_all_free(src);
  return failures == 0 ? 0 : 1;
}
