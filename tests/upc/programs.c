// SPDX-License-Identifier: BSD-3-Clause
/* Three programs as a translator makes them, each beside the same computation by one thread: a stencil, a product of
 * matrices, and a sort by buckets. */
#include "tests/upc/check.h"

/* A stencil as a translator makes it: two grids of rows, a block of rows for each thread, the rows at its
 * border from its neighbours by shared reads. The result is compared with that of one private grid. The
 * source would be
 *
 *   shared [ROWS * COLUMNS] double now[THREADS * ROWS][COLUMNS], next[THREADS * ROWS][COLUMNS];
 *   ... upc_forall (i = 1; i < n - 1; i++; &now[i][0]) for (j = 1; ...) next[i][j] = ...; upc_barrier;
 */
enum { rows = 6, columns = 11, steps = 8 };
upcr_shared_ptr_t now, next;

static void UPCRI_ALLOC_stencil(void) {
  UPCR_BEGIN_FUNCTION();
  upcr_startup_shalloc_t info[] = {
      UPCRT_STARTUP_SHALLOC(now, rows * columns * 8, 1, 1, 8, "A6H_A11_R66_d"),
      UPCRT_STARTUP_SHALLOC(next, rows * columns * 8, 1, 1, 8, "A6H_A11_R66_d"),
  };
  upcr_startup_shalloc(info, sizeof(info) / sizeof(upcr_startup_shalloc_t));
}
static void UPCRI_INIT_stencil(void) {
  UPCR_BEGIN_FUNCTION();
}
UPCR_UNIT(stencil, 3, 6, 0)

static double initial(int i, int j) {
  return (double)((i * 7 + j * 3) % 10) / 4;
}
static upcr_shared_ptr_t element(upcr_shared_ptr_t grid, int i, int j) {
  upcr_shared_ptr_t row = UPCR_ADD_SHARED(grid, 8ULL, (_INT64)((_UINT64)(i)*11ULL), 66ULL);
  return UPCR_ADD_SHARED(row, 8ULL, j, 66ULL);
}

static void sweep(int n) {
  double spilled[4];
  *((_INT32*)UPCR_TLD_ADDR(upcr_forall_control)) = 1;
  for (int i = 1; i < n - 1; i = i + 1) {
    if (upcr_hasMyAffinity_shared(element(now, i, 0)) == 0) continue;
    for (int j = 1; j < columns - 1; j = j + 1) {
      UPCR_GET_SHARED(&spilled[0], element(now, i - 1, j), 0, 8);
      UPCR_GET_SHARED(&spilled[1], element(now, i + 1, j), 0, 8);
      spilled[2] = UPCR_GET_SHARED_DOUBLEVAL(element(now, i, j - 1), 0);
      spilled[3] = UPCR_GET_SHARED_DOUBLEVAL(element(now, i, j + 1), 0);
      UPCR_PUT_SHARED_DOUBLEVAL(element(next, i, j), 0,
                                (spilled[0] + spilled[1] + spilled[2] + spilled[3]) / 4);
    }
  }
  *((_INT32*)UPCR_TLD_ADDR(upcr_forall_control)) = 0;
  upcr_barrier(-373913500, 1);
}

static double *alone, *alone_next;
static void sweep_alone(int n) {
  for (int i = 1; i < n - 1; ++i)
    for (int j = 1; j < columns - 1; ++j)
      alone_next[i * columns + j] = (alone[(i - 1) * columns + j] + alone[(i + 1) * columns + j] +
                                     alone[i * columns + j - 1] + alone[i * columns + j + 1]) /
                                    4;
  double* const before = alone;
  alone = alone_next;
  alone_next = before;
}

WEFT_SUITE(upc_stencil) {
  const upcr_unit_t* const units[] = {&upcr_unit_stencil};
  failures = 0;
  upcr_begin(units, 1);
  const int n = rows * THREADS;
  alone = calloc((size_t)(n * columns), sizeof *alone);
  alone_next = calloc((size_t)(n * columns), sizeof *alone);
  for (int i = 0; i != n; ++i)
    for (int j = 0; j != columns; ++j) {
      alone[i * columns + j] = alone_next[i * columns + j] = initial(i, j);
      if (upcr_hasMyAffinity_shared(element(now, i, j)) == 0) continue;
      UPCR_PUT_SHARED_DOUBLEVAL(element(now, i, j), 0, initial(i, j));
      UPCR_PUT_SHARED_DOUBLEVAL(element(next, i, j), 0, initial(i, j));
    }
  barrier();
  for (int step = 0; step != steps; ++step) {
    sweep(n);
    sweep_alone(n);
    const upcr_shared_ptr_t before = now;
    now = next;
    next = before;
  }
  for (int i = 0; i != n; ++i)
    for (int j = 0; j != columns; ++j)
      CHECK(UPCR_GET_SHARED_DOUBLEVAL(element(now, i, j), 0) == alone[i * columns + j]);
  free(alone);
  free(alone_next);
  barrier();
  upcr_all_free(now);
  upcr_all_free(next);
  now = next = upcr_null_shared;
  return failures == 0 ? 0 : 1;
}

/* A product of matrices as a translator makes it, with THREADS in a dimension: rows of a and c in blocks, b
 * spread element by element. Beside it a broadcast and a reduction of Weft's own. The source would be
 *
 *   shared [N] int a[ROWS * THREADS][N], c[ROWS * THREADS][N];  shared int b[N][N * THREADS];
 *   upc_forall (i = 0; i < ROWS * THREADS; i++; &a[i][0]) for (j ...) for (k ...) c[i][j] += a[i][k] *
 * b[k][j];
 */
enum { n = 7, own_rows = 3 };
upcr_shared_ptr_t a, c;
upcr_pshared_ptr_t b, largest, sums;

static void UPCRI_ALLOC_matrix(void) {
  UPCR_BEGIN_FUNCTION();
  upcr_startup_shalloc_t info[] = {
      UPCRT_STARTUP_SHALLOC(a, n * 4, own_rows, 1, 4, "A3H_A7_R7_i"),
      UPCRT_STARTUP_SHALLOC(c, n * 4, own_rows, 1, 4, "A3H_A7_R7_i"),
  };
  upcr_startup_pshalloc_t pinfo[] = {
      UPCRT_STARTUP_PSHALLOC(b, 4, n * n, 1, 4, "A7_A7H_R1_i"),
      UPCRT_STARTUP_PSHALLOC(largest, 4, 1, 0, 4, "R1_i"),
      UPCRT_STARTUP_PSHALLOC(sums, 4, 1, 1, 4, "A1H_R1_i"),
  };
  upcr_startup_shalloc(info, sizeof(info) / sizeof(upcr_startup_shalloc_t));
  upcr_startup_pshalloc(pinfo, sizeof(pinfo) / sizeof(upcr_startup_pshalloc_t));
}
static void UPCRI_INIT_matrix(void) {
  UPCR_BEGIN_FUNCTION();
}
UPCR_UNIT(matrix, 3, 6, 0)

static int a_of(int i, int k) {
  return i + 2 * k - 3;
}
static int b_of(int k, int j) {
  return k * j % 5 - 1;
}
static upcr_shared_ptr_t in_rows(upcr_shared_ptr_t matrix, int i, int j) {
  return UPCR_ADD_SHARED(UPCR_ADD_SHARED(matrix, 4ULL, (_INT64)i * n, 7ULL), 4ULL, j, 7ULL);
}
static upcr_pshared_ptr_t in_b(int k, int j) {
  return UPCR_ADD_PSHARED1(UPCR_ADD_PSHARED1(b, 4ULL, (_INT64)k * n * ((int)upcr_threads())), 4ULL, j);
}

static int product(int wide) {
  int own = 0;
  for (int i = 0; i < wide; i = i + 1) {
    if (upcr_hasMyAffinity_shared(in_rows(a, i, 0)) == 0) continue;
    for (int j = 0; j < n; j = j + 1) {
      int sum = 0, left, right;
      for (int k = 0; k < n; k = k + 1) {
        UPCR_GET_SHARED(&left, in_rows(a, i, k), 0, 4);
        UPCR_GET_PSHARED(&right, in_b(k, j), 0, 4);
        sum = sum + left * right;
      }
      UPCR_PUT_SHARED_VAL(in_rows(c, i, j), 0, sum, 4);
      own = own + sum;
    }
  }
  return own;
}

WEFT_SUITE(upc_matrix) {
  const upcr_unit_t* const units[] = {&upcr_unit_matrix};
  failures = 0;
  upcr_begin(units, 1);
  const int wide = own_rows * THREADS;
  for (int i = 0; i != wide; ++i)
    for (int k = 0; k != n; ++k)
      if (upcr_hasMyAffinity_shared(in_rows(a, i, k)))
        UPCR_PUT_SHARED_VAL(in_rows(a, i, k), 0, a_of(i, k), 4);
  for (int k = 0; k != n; ++k)
    for (int j = 0; j != n * THREADS; ++j)
      if (upcr_hasMyAffinity_pshared(in_b(k, j))) UPCR_PUT_PSHARED_VAL(in_b(k, j), 0, b_of(k, j), 4);
  upcr_barrier(1393070367, 1);
  const int own = product(wide);
  UPCR_PUT_PSHARED_VAL(UPCR_ADD_PSHARED1(sums, 4ULL, MYTHREAD), 0, own, 4);
  upcr_barrier(1393070368, 1);
  int total = 0;
  for (int i = 0; i != wide; ++i)
    for (int j = 0; j != n; ++j) {
      int sum = 0;
      for (int k = 0; k != n; ++k)
        sum += a_of(i, k) * b_of(k, j);
      total += sum;
      CHECK((int)UPCR_GET_SHARED_VAL(in_rows(c, i, j), 0, 4) == sum);
    }
  /* The collectives take the pointers as they are. */
  bupc_all_reduceI(UPCR_PSHARED_TO_SHARED(largest), UPCR_PSHARED_TO_SHARED(sums), UPC_ADD, (size_t)THREADS, 1,
                  NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  bupc_all_broadcast(UPCR_PSHARED_TO_SHARED(sums), UPCR_PSHARED_TO_SHARED(largest), 4,
                    UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  CHECK((int)UPCR_GET_PSHARED_VAL(UPCR_ADD_PSHARED1(sums, 4ULL, MYTHREAD), 0, 4) == total);
  barrier();
  upcr_shared_ptr_t* const all[] = {&a, &b, &c, &largest, &sums};
  for (size_t i = 0; i != sizeof all / sizeof all[0]; ++i) {
    upcr_all_free(*all[i]);
    *all[i] = upcr_null_shared;
  }
  return failures == 0 ? 0 : 1;
}

/* A sort by buckets as a translator makes it: each thread counts its keys by the thread that they go to, the
 * counts are exchanged by strict writes, and the keys by block copies with handles. The source would be
 *
 *   shared [KEYS] unsigned keys[KEYS * THREADS];  shared [THREADS] int counts[THREADS][THREADS];
 *   shared [ROOM] unsigned sorted[ROOM * THREADS];  shared int sizes[THREADS];
 */
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
