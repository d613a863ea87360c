// SPDX-License-Identifier: BSD-3-Clause
/* The game of life on a torus as a translator makes it, whose rows are dealt round the threads: static data
 * with initialisers, a sum under a lock, and a checkpoint that is closed while it is being written. Each
 * generation is compared with a board of bits that every thread keeps for itself, and the checkpoint with
 * what was then. The source would be
 *
 *   shared [WIDE] unsigned char now[4 * THREADS][WIDE] = {...}, next[4 * THREADS][WIDE];
 *   shared int alive = 6;
 *   shared [] int history[GENERATIONS + 1];
 *   upc_forall (i = 0; i < 4 * THREADS; i++; &now[i][0]) { ...; upc_lock(lock); alive += n; upc_unlock(lock);
 * }
 */
#include "tests/upc/check.h"

#include <unistd.h>

enum { wide = 24, rows_each = 4, generations = 10, written = 4 };
static upcr_shared_ptr_t now = UPCR_INITIALIZED_SHARED, next;
static upcr_pshared_ptr_t alive = UPCR_INITIALIZED_PSHARED, history;
/* A glider, and three in a row. */
static unsigned char now_values[rows_each][wide] = {
    {0, 1, 0, 0}, {0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1}, {1, 1, 1, 0}, {0}};
static int alive_values[1] = {8};

static void UPCRI_ALLOC_life(void) {
  UPCR_BEGIN_FUNCTION();
  upcr_startup_shalloc_t info[] = {
      UPCRT_STARTUP_SHALLOC(now, 24, 4, 1, 1, "A4H_A24_R24_Uc"),
      UPCRT_STARTUP_SHALLOC(next, 24, 4, 1, 1, "A4H_A24_R24_Uc"),
  };
  upcr_startup_pshalloc_t pinfo[] = {
      UPCRT_STARTUP_PSHALLOC(alive, 4, 1, 0, 4, "R1_i"),
      UPCRT_STARTUP_PSHALLOC(history, 44, 1, 0, 4, "A11_R0_i"),
  };
  upcr_startup_shalloc(info, sizeof(info) / sizeof(upcr_startup_shalloc_t));
  upcr_startup_pshalloc(pinfo, sizeof(pinfo) / sizeof(upcr_startup_pshalloc_t));
}
static void UPCRI_INIT_life(void) {
  UPCR_BEGIN_FUNCTION();
  upcr_startup_arrayinit_diminfo_t now_dims[] = {{rows_each, rows_each, 1}, {wide, wide, 0}};
  upcr_startup_arrayinit_diminfo_t alive_dims[] = {{1, 1, 0}};
  upcr_startup_initarray(now, now_values, now_dims, 2, 1, wide);
  upcr_startup_initparray(alive, alive_values, alive_dims, 1, 4, 1);
}
UPCR_UNIT(life, 3, 6, 0)

/* One generation, by the threads. */
static void generation(upcr_shared_ptr_t lock) {
  const int rows = rows_each * (int)upcr_threads();
  unsigned char above[wide], below[wide], cell;
  int i, j, n, sum;
  upcr_shared_ptr_t affinity;
  *(int32_t*)UPCR_TLD_ADDR(upcr_forall_control) = 1;
  for (i = 0; i < rows; i = i + 1) {
    affinity = UPCR_ADD_SHARED(now, 1ULL, (_INT64)i * wide, 24ULL);
    if (upcr_hasMyAffinity_shared(affinity) == 0) continue;
    UPCR_MEMGET(above, UPCR_ADD_SHARED(now, 1ULL, (_INT64)((i + rows - 1) % rows) * wide, 24ULL), wide);
    UPCR_MEMGET(below, UPCR_ADD_SHARED(now, 1ULL, (_INT64)((i + 1) % rows) * wide, 24ULL), wide);
    n = 0;
    for (j = 0; j < wide; j = j + 1) {
      sum = 0;
      for (int d = -1; d <= 1; d = d + 1) {
        const int at = (j + d + wide) % wide;
        sum = sum + above[at] + below[at];
        if (d != 0) sum = sum + (int)UPCR_GET_SHARED_VAL(affinity, at, 1);
      }
      UPCR_GET_SHARED(&cell, UPCR_ADD_SHARED(affinity, 1ULL, j, 24ULL), 0, 1);
      cell = (unsigned char)(sum == 3 || (sum == 2 && cell != 0));
      n = n + cell;
      UPCR_PUT_SHARED(UPCR_ADD_SHARED(next, 1ULL, (_INT64)i * wide + j, 24ULL), 0, &cell, 1);
    }
    if (n == 0) continue;
    UPCR_LOCK(lock);
    UPCR_PUT_PSHARED_VAL(alive, 0, (int)UPCR_GET_PSHARED_VAL(alive, 0, 4) + n, 4);
    UPCR_UNLOCK(lock);
  }
  *(int32_t*)UPCR_TLD_ADDR(upcr_forall_control) = 0;
}

/* The same of a board of bits: neighbours are added in columns, of ones, twos and fours. */
static unsigned turned(unsigned row, int by) {
  return (row << by | row >> (wide - by)) & ((1u << wide) - 1);
}
static void expect(const unsigned* row, unsigned* then, int rows) {
  for (int i = 0; i != rows; ++i) {
    const unsigned up = row[(i + rows - 1) % rows], own = row[i], down = row[(i + 1) % rows];
    const unsigned neighbours[] = {up,
                                   down,
                                   turned(up, 1),
                                   turned(up, wide - 1),
                                   turned(own, 1),
                                   turned(own, wide - 1),
                                   turned(down, 1),
                                   turned(down, wide - 1)};
    unsigned ones = 0, twos = 0, fours = 0;
    for (int k = 0; k != 8; ++k) {
      const unsigned carry = ones & neighbours[k];
      ones ^= neighbours[k];
      fours |= twos & carry;
      twos ^= carry;
    }
    then[i] = twos & ~fours & (ones | own);
  }
}
/* Whether the shared array holds this board. */
static int holds(upcr_shared_ptr_t board, const unsigned* row, int rows) {
  unsigned char cells[wide];
  for (int i = 0; i != rows; ++i) {
    UPCR_MEMGET(cells, UPCR_ADD_SHARED(board, 1ULL, (_INT64)i * wide, 24ULL), wide);
    for (int j = 0; j != wide; ++j)
      if (cells[j] != (row[i] >> j & 1)) return 0;
  }
  return 1;
}

static void checkpoint(const char* name, const unsigned* then, int rows) {
  const upc_off_t bytes = (upc_off_t)rows * wide;
  upc_file_t* const f = upc_all_fopen(name, UPC_RDONLY | UPC_COMMON_FP, 0, NULL);
  CHECK(f != NULL && upc_all_fget_size(f) == bytes);
  if (f == NULL) return;
  UPCR_MEMSET(on(next, MYTHREAD), 0xee, (size_t)rows_each * wide);
  barrier();
  /* From its second row on there is less than is asked for. */
  CHECK(upc_all_fseek(f, wide, UPC_SEEK_SET) == wide);
  CHECK(upc_all_fread_shared(f, next, 1, wide, (size_t)rows, 0) == bytes - wide);
  CHECK(holds(next, then + 1, rows - 1));
  CHECK(upc_all_fseek(f, 0, UPC_SEEK_SET) == 0);
  CHECK(upc_all_fread_shared(f, next, 1, wide, (size_t)rows, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC) == bytes);
  CHECK(upc_all_fread_shared(f, next, 1, wide, 1, 0) == 0);
  CHECK(holds(next, then, rows));
  CHECK(upc_all_fwrite_shared(f, next, 1, wide, 1, 0) == -1); /* it is open for reading */
  barrier();
  CHECK(upc_all_fclose(f) == 0);
}

static void play(const char* name) {
  const int rows = rows_each * THREADS;
  const upcr_shared_ptr_t lock = UPCR_ALL_LOCK_ALLOC();
  unsigned *row = calloc((size_t)rows, sizeof *row), *then = calloc((size_t)rows, sizeof *row),
           *kept = calloc((size_t)rows, sizeof *row);
  for (int i = 0; i != rows_each; ++i)
    for (int j = 0; j != wide; ++j)
      row[i] |= (unsigned)now_values[i][j] << j;
  CHECK(UPCR_GET_PSHARED_VAL(alive, 0, 4) == 8);
  for (int g = 0; g != generations; ++g) {
    int count = 0;
    CHECK(holds(now, row, rows));
    for (int i = 0; i != rows; ++i)
      count += __builtin_popcount(row[i]);
    CHECK((int)UPCR_GET_PSHARED_VAL(alive, 0, 4) == count);
    if (g == written) {
      memcpy(kept, row, (size_t)rows * sizeof *row);
      upc_file_t* const f = upc_all_fopen(name, UPC_WRONLY | UPC_CREATE | UPC_TRUNC | UPC_COMMON_FP, 0, NULL);
      CHECK(f != NULL);
      if (f != NULL) {
        upc_all_fwrite_shared_async(f, now, wide, 1, (size_t)rows * wide, 0);
        CHECK(upc_all_fclose(f) == 0); /* which waits for it */
      }
    }
    barrier();
    if (MYTHREAD == 0) {
      const int n = (int)UPCR_GET_PSHARED_VAL(alive, 0, 4);
      UPCR_PUT_PSHARED_VAL(history, (ptrdiff_t)g * 4, n, 4);
      UPCR_PUT_PSHARED_VAL(alive, 0, 0, 4);
    }
    upcr_barrier(g, 0);
    generation(lock);
    upcr_barrier(g, 0);
    for (int i = MYTHREAD; i < rows; i += THREADS)
      UPCR_MEMCPY(UPCR_ADD_SHARED(now, 1ULL, (_INT64)i * wide, 24ULL),
                  UPCR_ADD_SHARED(next, 1ULL, (_INT64)i * wide, 24ULL), wide);
    barrier();
    expect(row, then, rows);
    unsigned* const last = row;
    row = then;
    then = last;
  }
  CHECK((int)UPCR_GET_PSHARED_VAL(history, 0, 4) == 8);
  checkpoint(name, kept, rows);
  free(row);
  free(then);
  free(kept);
  UPCR_ALL_LOCK_FREE(lock);
}

WEFT_SUITE(upc_life) {
  const upcr_unit_t* const units[] = {&upcr_unit_life};
  char name[64];
  failures = 0;
  upcr_begin(units, 1);
  /* One name for all: it has the number of thread 0's process, which goes by its count of generations. */
  if (MYTHREAD == 0) UPCR_PUT_PSHARED_VAL(history, 0, (int)getpid(), 4);
  barrier();
  snprintf(name, sizeof name, "/tmp/weft_upc_life.%d", (int)UPCR_GET_PSHARED_VAL(history, 0, 4));
  barrier();
  play(name);
  barrier();
  if (MYTHREAD == 0) unlink(name);
  upcr_shared_ptr_t* const all[] = {&now, &next, &alive, &history};
  for (size_t i = 0; i != sizeof all / sizeof all[0]; ++i) {
    upcr_all_free(*all[i]);
    *all[i] = upcr_null_shared;
    if (i % 2 == 0) all[i]->phase = 1; /* those with values have them again in another run */
  }
  return failures == 0 ? 0 : 1;
}
