// SPDX-License-Identifier: BSD-3-Clause
/* What Berkeley UPC has beyond the language: atomic operations by name, how far threads are apart, and what a
 * pointer looks like. */
#include "upc_runtime/library/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <upc_collective.h>

upc_atomicdomain_t upcri_counting;
static upc_atomicdomain_t halves; /* operations on 4 bytes */
static uint32_t* hosts;           /* of each thread the first one of its host */

void upcri_find_hosts(void) {
  const upc_op_t all = UPC_GET | UPC_SET | UPC_CSWAP | UPC_ADD | UPC_AND | UPC_OR | UPC_XOR;
  upcri_counting = upc_all_atomicdomain_alloc(UPC_UINT64, all, 0);
  halves = upc_all_atomicdomain_alloc(UPC_UINT32, all, 0);
  const size_t threads = upcr_job.threads;
  uint32_t first = 0;
  while (upcr_job.heaps[first] == NULL)
    ++first;
  hosts = upcri_memory(threads * sizeof *hosts);
  const upcr_shared_ptr_t own = upc_all_alloc(threads, sizeof first),
                          of_all = upc_all_alloc(threads, threads * sizeof first);
  upcr_shared_ptr_t mine = own, all_here = of_all;
  mine.thread = all_here.thread = upcr_job.mythread;
  upc_memput(mine, &first, sizeof first);
  upc_all_gather_all(of_all, own, sizeof first, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  upc_memget(hosts, all_here, threads * sizeof first);
  upc_all_free(own);
  upc_all_free(of_all);
}

unsigned bupc_thread_distance(int a, int b) {
  const unsigned x = (unsigned)a, y = (unsigned)b;
  if (x >= upcr_job.threads || y >= upcr_job.threads) {
    upcri_fail("bupc_thread_distance", "thread", "there is no such thread", "%d",
               x >= upcr_job.threads ? a : b);
    return BUPC_THREADS_VERYFAR;
  }
  if (x == y) return BUPC_THREADS_SAME;
  return hosts[x] == hosts[y] ? BUPC_THREADS_VERYNEAR : BUPC_THREADS_FAR;
}

int _bupc_dump_shared(upcr_shared_ptr_t p, char* text, int size) {
  if (size < BUPC_DUMP_MIN_LENGTH) {
    errno = EINVAL;
    return -1;
  }
  if (upcr_isnull_shared(p))
    snprintf(text, (size_t)size, "<NULL>");
  else
    snprintf(text, (size_t)size, "<address=%p (addrfield=0x%llx), thread=%u, phase=%u>", upc_cast(p),
             (unsigned long long)p.addr, (unsigned)p.thread, (unsigned)p.phase);
  return 0;
}

uint64_t upcri_update(size_t nbytes, upc_op_t op, upcr_shared_ptr_t target, uint64_t a, uint64_t b,
                      int strict) {
  void (*const update)(upc_atomicdomain_t, void*, upc_op_t, upc_shared_ptr_t, const void*, const void*) =
      strict ? upc_atomic_strict : upc_atomic_relaxed;
  const int two = op == UPC_CSWAP, none = op == UPC_GET;
  if (nbytes == sizeof(uint64_t)) {
    uint64_t before = 0;
    update(upcri_counting, &before, op, target, none ? NULL : &a, two ? &b : NULL);
    return before;
  }
  const uint32_t first = (uint32_t)a, second = (uint32_t)b;
  uint32_t before = 0;
  update(halves, &before, op, target, none ? NULL : &first, two ? &second : NULL);
  return before;
}

uint64_t upcri_replace(size_t nbytes, upcr_shared_ptr_t target, uint64_t mask, uint64_t value, int strict) {
  uint64_t expected = upcri_update(nbytes, UPC_GET, target, 0, 0, strict);
  for (;;) {
    const uint64_t before =
        upcri_update(nbytes, UPC_CSWAP, target, expected, (expected & ~mask) | (value & mask), strict);
    if (before == expected) return before;
    expected = before;
  }
}
