/* A stencil as a translator makes it: two grids of rows, a block of rows for each thread, the rows at its
 * border from its neighbours by shared reads. The result is compared with that of one private grid. The
 * source would be
 *
 *   shared [ROWS * COLUMNS] double now[THREADS * ROWS][COLUMNS], next[THREADS * ROWS][COLUMNS];
 *   ... upc_forall (i = 1; i < n - 1; i++; &now[i][0]) for (j = 1; ...) next[i][j] = ...; upc_barrier;
 */
#include "tests/upc/check.h"

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
