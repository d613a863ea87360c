// SPDX-License-Identifier: BSD-3-Clause
/* The arithmetic of translated programs beside that of upc.h, over sizes, blocks, places and distances; and
 * what else is asked of a pointer. */
#include "tests/upc/check.h"

#include <weft/direct.h>

static const size_t sizes[] = {1, 4, 8, 12, 24}, blocks[] = {1, 2, 3, 7, 16};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void arithmetic(upcr_shared_ptr_t array) {
  for (size_t s = 0; s != COUNT(sizes); ++s)
    for (size_t b = 0; b != COUNT(blocks); ++b)
      for (ptrdiff_t from = 0; from < 40; from += 3)
        for (ptrdiff_t inc = -40; inc <= 90; inc += 7) {
          const size_t size = sizes[s], block = blocks[b];
          const upcr_shared_ptr_t p = upc_ptradd(array, block, size, from),
                                  q = upc_ptradd(p, block, size, inc);
          upcr_shared_ptr_t r = UPCR_ADD_SHARED(p, size, inc, block);
          CHECK(UPCR_ISEQUAL_SHARED_SHARED(r, q) && UPCR_PHASEOF_SHARED(r) == q.phase);
          CHECK(UPCR_SUB_SHARED(r, p, size, block) == inc && UPCR_SUB_SHARED(p, r, size, block) == -inc);
          UPCR_INC_SHARED(&r, size, -inc, block);
          CHECK(UPCR_ISEQUAL_SHARED_SHARED(r, p) && r.phase == p.phase);
          if (b != 0) continue;
          const upcr_pshared_ptr_t p1 = upc_ptradd(array, 1, size, from), q1 = upc_ptradd(p1, 1, size, inc);
          upcr_pshared_ptr_t r1 = UPCR_ADD_PSHARED1(p1, size, inc);
          CHECK(UPCR_ISEQUAL_PSHARED_PSHARED(r1, q1) && UPCR_SUB_PSHARED1(r1, p1, size) == inc);
          UPCR_INC_PSHARED1(&r1, size, -inc);
          CHECK(UPCR_ISEQUAL_PSHARED_SHARED(r1, p1));
          const upcr_pshared_ptr_t pi = upc_ptradd(array, 0, size, from), qi = upc_ptradd(pi, 0, size, inc);
          upcr_pshared_ptr_t ri = UPCR_ADD_PSHAREDI(pi, size, inc);
          CHECK(UPCR_ISEQUAL_SHARED_PSHARED(ri, qi) && UPCR_SUB_PSHAREDI(ri, pi, size) == inc);
          UPCR_INC_PSHAREDI(&ri, size, -inc);
          CHECK(UPCR_ISEQUAL_PSHARED_PSHARED(ri, pi));
        }
}

/* Numbers of elements within what the short way of a division takes, at its border and beyond. */
static void far(void) {
  const upcr_shared_ptr_t p = {1ull << 45, (uint32_t)(THREADS - 1), 0};
  for (int shift = 20; shift < 40; ++shift)
    for (int d = -1; d <= 1; ++d) {
      const ptrdiff_t inc = (ptrdiff_t)((1ll << shift) + d);
      CHECK(upcr_isequal_pshared_pshared(upcr_add_pshared1(p, 8, inc), upc_ptradd(p, 1, 8, inc)));
      CHECK(upcr_isequal_pshared_pshared(upcr_add_pshared1(p, 8, -inc), upc_ptradd(p, 1, 8, -inc)));
      CHECK(upcr_isequal_shared_shared(upcr_add_shared(p, 8, inc, 5), upc_ptradd(p, 5, 8, inc)));
    }
  /* Further than upc_ptradd goes, in elements of one byte. */
  for (int shift = 40; shift < 63; ++shift)
    for (int64_t d = -3 * THREADS; d <= 3 * THREADS; ++d) {
      const int64_t border = (int64_t)(upcr_job.dividends < 1ull << 62 ? upcr_job.dividends : 0);
      const int64_t incs[] = {(1ll << shift) + d, (1ll << 62) / (shift - 39) / THREADS * THREADS + d,
                              border + d};
      for (int i = 0; i != 3; ++i) {
        const int64_t element = incs[i] + (int64_t)p.thread, left = element % THREADS;
        const upcr_pshared_ptr_t q = upcr_add_pshared1(p, 1, (ptrdiff_t)incs[i]);
        CHECK(q.thread == (uint32_t)(left < 0 ? left + THREADS : left));
        CHECK(q.addr - p.addr == (uint64_t)(element / THREADS - (left < 0)));
      }
    }
}

/* A pointer that a loop moves on: by short steps, within a round and past one. */
static void steps(upcr_shared_ptr_t array) {
  for (ptrdiff_t step = -2 * THREADS; step <= 2 * THREADS; ++step) {
    upcr_pshared_ptr_t walks = upc_ptradd(array, 1, 8, 50 * THREADS);
    for (int k = 1; k != 20; ++k) {
      UPCR_INC_PSHARED1(&walks, 8, step);
      CHECK(UPCR_ISEQUAL_PSHARED_PSHARED(walks, upc_ptradd(array, 1, 8, 50 * THREADS + k * step)));
    }
  }
}

static void questions(upcr_shared_ptr_t array) {
  upcr_shared_ptr_t p = {array.addr + 64, (uint32_t)MYTHREAD, 3};
  upcr_pshared_ptr_t q = UPCR_SHARED_TO_PSHARED(p);
  CHECK(UPCR_PHASEOF_SHARED(p) == 3 && UPCR_PHASEOF_PSHARED(q) == 0 && q.phase == 0);
  CHECK(UPCR_THREADOF_SHARED(p) == (unsigned)MYTHREAD && UPCR_THREADOF_PSHARED(q) == (unsigned)MYTHREAD);
  CHECK(UPCR_ADDRFIELD_SHARED(p) == upc_addrfield(p) && UPCR_ADDRFIELD_PSHARED(q) == array.addr + 64);
  CHECK(UPCR_ISEQUAL_SHARED_SHARED(UPCR_PSHARED_TO_SHARED(q), p) && UPCR_SHARED_RESETPHASE(p).phase == 0);
  CHECK(UPCR_HASMYAFFINITY_SHARED(p) && UPCR_HASMYAFFINITY_PSHARED(q));
  CHECK(upcr_hasMyAffinity_shared(on(p, (MYTHREAD + 1) % THREADS)) == (THREADS == 1));
  CHECK(!UPCR_ISNULL_SHARED(p) && !UPCR_ISNULL_PSHARED(q) && UPCR_ISVALID_SHARED(p) &&
        UPCR_ISVALID_PSHARED(q));
  CHECK(UPCR_ISVALID_PSHARED(p) == 0); /* it has a phase */
  CHECK(UPCR_ISVALID_SHARED(on(p, THREADS)) == 0);
  void* const mine = UPCR_SHARED_TO_LOCAL(p);
  CHECK(mine == upc_cast(p) && UPCR_PSHARED_TO_LOCAL(q) == mine);
  CHECK(UPCR_SHARED_TO_LOCAL(upcr_null_shared) == NULL);
  CHECK(UPCR_ISEQUAL_SHARED_SHARED(bupc_inverse_cast(mine), p));
  CHECK(UPCR_ISNULL_SHARED(bupc_inverse_cast(&p)));
  const upcr_shared_ptr_t elsewhere = bupc_local_to_shared(mine, (MYTHREAD + 1) % THREADS, 2);
  CHECK(elsewhere.addr == p.addr && elsewhere.thread == (unsigned)((MYTHREAD + 1) % THREADS) &&
        elsewhere.phase == 2);
  for (int t = 0; t != THREADS; ++t) {
    void* const there = upc_cast(on(p, t));
    if (there != NULL)
      CHECK(UPCR_ISEQUAL_SHARED_SHARED(bupc_inverse_cast(there), on(p, t)));
    else
      REPORTED((void)upcr_shared_to_local(on(p, t)), "another host");
  }
  UPCR_SETNULL_SHARED(&p);
  UPCR_SETNULL_PSHARED(&q);
  CHECK(UPCR_ISNULL_SHARED(p) && UPCR_ISNULL_PSHARED(q) && UPCR_ISVALID_SHARED(p));
  const upcr_shared_ptr_t null = UPCR_NULL_SHARED, pnull = UPCR_NULL_PSHARED;
  CHECK(upcr_isnull_shared(null) && upcr_isnull_pshared(pnull));
  CHECK(UPCR_SHARED_SIZE == 16 && UPCR_PSHARED_SIZE == 16 && UPCR_MAX_BLOCKSIZE == UINT32_MAX);
  CHECK(upcr_add_shared_ptr(array, 4, 1, 2).addr == array.addr + 4);
  CHECK(upcr_affinitysize(100, 10, 0) == upc_affinitysize(100, 10, 0));
  CHECK(upcr_job.heap_begin == weft_direct((size_t)MYTHREAD).begin &&
        upcr_job.heaps[MYTHREAD] == weft_direct((size_t)MYTHREAD).base + upcr_job.heap_begin);
  CHECK(upcr_mythread() == (unsigned)upc_mythread() && upcr_threads() == (unsigned)upc_threads());
}

/* Memory of every kind is reached by one base for each thread. */
static void one_base(void) {
  const upcr_shared_ptr_t a = UPCR_ALL_ALLOC((size_t)THREADS, 100),
                          g = UPCR_GLOBAL_ALLOC((size_t)THREADS, 100);
  const upcr_shared_ptr_t l = UPCR_ALLOC(100);
  for (int t = 0; t != THREADS; ++t) {
    const weft_direct_t d = weft_direct((size_t)t);
    const upcr_shared_ptr_t all[] = {on(a, t), on(g, t), l};
    for (int i = 0; i != 3; ++i) {
      if (i == 2 && t != MYTHREAD) continue;
      void* const there = upc_cast(all[i]);
      CHECK(there == (d.base == NULL ? NULL : d.base + upc_addrfield(all[i])));
      CHECK(d.bytes == 0 || all[i].addr - d.begin < d.bytes);
    }
    CHECK(0 - d.begin >= d.bytes); /* null is outside */
  }
  barrier();
  UPCR_FREE(l);
  UPCR_FREE(g);
  UPCR_ALL_FREE(a);
}

static void loops(void) {
  CHECK(upcrt_gcd(12, 18) == 6 && upcrt_gcd(7, 0) == 7 && upcrt_gcd(-4, 6) == 2);
  for (int scale = 1; scale != 4; ++scale)
    for (int step = -3; step <= 3; ++step)
      for (int first = 0; step != 0 && first != THREADS; ++first) {
        int found = step > 0 ? INT32_MAX : INT32_MIN, lo = 10;
        for (int k = THREADS - 1; k >= 0; --k)
          if (((first + k * step * scale - MYTHREAD) % THREADS + THREADS) % THREADS == 0)
            found = lo + k * step;
        CHECK(upcrt_forall_start(first, step, lo, scale) == found);
      }
}

WEFT_SUITE(upc_pointers) {
  begin_without_units();
  const upcr_shared_ptr_t array = upcr_all_alloc((size_t)THREADS, 4096);
  arithmetic(array);
  far();
  steps(array);
  questions(array);
  one_base();
  loops();
  barrier();
  upcr_all_free(array);
  return failures == 0 ? 0 : 1;
}
