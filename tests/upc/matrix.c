/* A product of matrices as a translator makes it, with THREADS in a dimension: rows of a and c in blocks, b
 * spread element by element. Beside it a broadcast and a reduction of Weft's own. The source would be
 *
 *   shared [N] int a[ROWS * THREADS][N], c[ROWS * THREADS][N];  shared int b[N][N * THREADS];
 *   upc_forall (i = 0; i < ROWS * THREADS; i++; &a[i][0]) for (j ...) for (k ...) c[i][j] += a[i][k] *
 * b[k][j];
 */
#include "tests/upc/check.h"

enum { n = 7, rows = 3 };
upcr_shared_ptr_t a, c;
upcr_pshared_ptr_t b, largest, sums;

static void UPCRI_ALLOC_matrix(void) {
  UPCR_BEGIN_FUNCTION();
  upcr_startup_shalloc_t info[] = {
      UPCRT_STARTUP_SHALLOC(a, n * 4, rows, 1, 4, "A3H_A7_R7_i"),
      UPCRT_STARTUP_SHALLOC(c, n * 4, rows, 1, 4, "A3H_A7_R7_i"),
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
  const int wide = rows * THREADS;
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
  upc_all_reduceI(UPCR_PSHARED_TO_SHARED(largest), UPCR_PSHARED_TO_SHARED(sums), UPC_ADD, (size_t)THREADS, 1,
                  NULL, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
  upc_all_broadcast(UPCR_PSHARED_TO_SHARED(sums), UPCR_PSHARED_TO_SHARED(largest), 4,
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
