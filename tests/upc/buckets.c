/* A sort by buckets as a translator makes it: each thread counts its keys by the thread that they go to, the
 * counts are exchanged by strict writes, and the keys by block copies with handles. The source would be
 *
 *   shared [KEYS] unsigned keys[KEYS * THREADS];  shared [THREADS] int counts[THREADS][THREADS];
 *   shared [ROOM] unsigned sorted[ROOM * THREADS];  shared int sizes[THREADS];
 */
#include "tests/upc/check.h"

enum { own_keys = 400 };
upcr_shared_ptr_t keys, counts, sorted;
upcr_pshared_ptr_t sizes;

static void UPCRI_ALLOC_buckets(void) {
  UPCR_BEGIN_FUNCTION();
  const size_t threads = (size_t)upcr_threads();
  upcr_startup_shalloc_t info[] = {
      UPCRT_STARTUP_SHALLOC(keys, own_keys * 4, 1, 1, 4, "A400H_R400_j"),
      UPCRT_STARTUP_SHALLOC(counts, threads * 4, 1, 1, 4, "AH_AH_RH_i"),
      UPCRT_STARTUP_SHALLOC(sorted, threads * own_keys * 4, 1, 1, 4, "A400HH_R400H_j"),
  };
  upcr_startup_pshalloc_t pinfo[] = {UPCRT_STARTUP_PSHALLOC(sizes, 4, 1, 1, 4, "A1H_R1_i")};
  upcr_startup_shalloc(info, sizeof(info) / sizeof(upcr_startup_shalloc_t));
  upcr_startup_pshalloc(pinfo, sizeof(pinfo) / sizeof(upcr_startup_pshalloc_t));
}
static void UPCRI_INIT_buckets(void) {
  UPCR_BEGIN_FUNCTION();
}
UPCR_UNIT(buckets, 3, 9, 0)

static unsigned key(int thread, int i) {
  const unsigned long long x =
      ((unsigned long long)thread * own_keys + (unsigned)i + 1) * 0x9e3779b97f4a7c15ull;
  return (unsigned)(x >> 33);
}
static int owner_of(unsigned k) {
  return (int)(((unsigned long long)k * upcr_threads()) >> 31);
}
static int rising(const void* x, const void* y) {
  const unsigned p = *(const unsigned*)x, q = *(const unsigned*)y;
  return (p > q) - (p < q);
}

WEFT_SUITE(upc_buckets) {
  const upcr_unit_t* const units[] = {&upcr_unit_buckets};
  failures = 0;
  upcr_begin(units, 1);
  const size_t threads = (size_t)THREADS, all_keys = threads * own_keys;
  upcr_shared_ptr_t mine = UPCR_ADD_SHARED(keys, 4ULL, (_INT64)MYTHREAD * own_keys, 400ULL);
  for (int i = 0; i < own_keys; i = i + 1)
    UPCR_PUT_SHARED_VAL(UPCR_ADD_SHARED(mine, 4ULL, i, 400ULL), 0, key(MYTHREAD, i), 4);
  /* Into private buckets, one for each thread. */
  unsigned* const bucket = malloc(all_keys * sizeof *bucket);
  int* const count = calloc(threads, sizeof *count);
  for (int i = 0; i < own_keys; i = i + 1) {
    unsigned k;
    UPCR_GET_SHARED(&k, UPCR_ADD_SHARED(mine, 4ULL, i, 400ULL), 0, 4);
    const int to = owner_of(k);
    bucket[to * own_keys + count[to]] = k;
    count[to] = count[to] + 1;
  }
  for (int t = 0; t < THREADS; t = t + 1) {
    const upcr_shared_ptr_t there = UPCR_ADD_SHARED(counts, 4ULL, (_INT64)t * THREADS + MYTHREAD, threads);
    UPCR_PUT_SHARED_VAL_STRICT(there, 0, count[t], 4);
  }
  upcr_notify(0, 1);
  upcr_wait(0, 1);
  /* Behind the keys of the threads before. */
  upcr_handle_t* const h = malloc(threads * sizeof *h);
  for (int t = 0; t < THREADS; t = t + 1) {
    _INT64 before = 0;
    for (int s = 0; s < MYTHREAD; s = s + 1)
      before +=
          (int)UPCR_GET_SHARED_VAL(UPCR_ADD_SHARED(counts, 4ULL, (_INT64)t * THREADS + s, threads), 0, 4);
    const upcr_shared_ptr_t there =
        UPCR_ADD_SHARED(sorted, 4ULL, (_INT64)t * (_INT64)all_keys + before, all_keys);
    h[t] = UPCR_NB_MEMPUT(there, bucket + t * own_keys, (size_t)count[t] * 4);
  }
  upcr_wait_syncnb_all(h, threads);
  int size = 0;
  for (int s = 0; s < THREADS; s = s + 1)
    size += (int)UPCR_GET_SHARED_VAL(UPCR_ADD_SHARED(counts, 4ULL, (_INT64)MYTHREAD * THREADS + s, threads),
                                     0, 4);
  UPCR_PUT_PSHARED_VAL(UPCR_ADD_PSHARED1(sizes, 4ULL, MYTHREAD), 0, size, 4);
  upcr_barrier(7, 0);
  qsort(UPCR_SHARED_TO_LOCAL(UPCR_ADD_SHARED(sorted, 4ULL, (_INT64)MYTHREAD * (_INT64)all_keys, all_keys)),
        (size_t)size, 4, rising);
  upcr_barrier(8, 0);
  /* All in one row, beside all keys sorted by themselves. */
  unsigned* const expected = malloc(all_keys * sizeof *expected);
  for (size_t i = 0; i != all_keys; ++i)
    expected[i] = key((int)(i / own_keys), (int)(i % own_keys));
  qsort(expected, all_keys, sizeof *expected, rising);
  size_t at = 0;
  for (int t = 0; t != THREADS; ++t) {
    const int there = (int)UPCR_GET_PSHARED_VAL(UPCR_ADD_PSHARED1(sizes, 4ULL, t), 0, 4);
    UPCR_MEMGET(bucket, UPCR_ADD_SHARED(sorted, 4ULL, (_INT64)t * (_INT64)all_keys, all_keys),
                (size_t)there * 4);
    CHECK(memcmp(bucket, expected + at, (size_t)there * 4) == 0);
    at += (size_t)there;
  }
  CHECK(at == all_keys);
  free(expected);
  free(h);
  free(count);
  free(bucket);
  barrier();
  upcr_shared_ptr_t* const all[] = {&keys, &counts, &sorted, &sizes};
  for (size_t i = 0; i != sizeof all / sizeof all[0]; ++i) {
    upcr_all_free(*all[i]);
    *all[i] = upcr_null_shared;
  }
  return failures == 0 ? 0 : 1;
}
