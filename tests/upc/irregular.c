// SPDX-License-Identifier: BSD-3-Clause
/* Three programs as Berkeley's translator writes them, each beside the same computation by one thread: a
 * sparse matrix times a vector whose blocks are fetched ahead, a table that threads fill one behind the other
 * by flags, and a tree whose nodes threads take from one another. */
#include "tests/upc/check.h"

static unsigned mixed(unsigned x) {
  x = (x ^ x >> 15) * 0x2c1b3c6du;
  x = (x ^ x >> 12) * 0x297a2d39u;
  return x ^ x >> 15;
}

/* Sparse matrix times vector, again and again. Blocks of the vector come by upc_memget_nb, the next one while
 * this one is worked on. The source would be
 *
 *   shared [WIDE] double x[WIDE * THREADS], y[WIDE * THREADS];
 *   for (...) { upc_forall (i = 0; i < n; i++; &y[i]) y[i] = 0; for (each block b) { fetch b + 1; sync b;
 *     upc_forall (i = 0; i < n; i++; i / WIDE) y[i] += ...; } upc_barrier; upc_forall (...) x[i] = y[i] / 2 +
 * i; upc_barrier; }
 */
enum { wide = 12, rounds = 3 };
upcr_shared_ptr_t x, y;

static void UPCRI_ALLOC_sparse(void) {
  UPCR_BEGIN_FUNCTION();
  upcr_startup_shalloc_t info[] = {
      UPCRT_STARTUP_SHALLOC(x, wide * 8, 1, 1, 8, "A12H_R12_d"),
      UPCRT_STARTUP_SHALLOC(y, wide * 8, 1, 1, 8, "A12H_R12_d"),
  };
  upcr_startup_shalloc(info, sizeof(info) / sizeof(upcr_startup_shalloc_t));
}
static void UPCRI_INIT_sparse(void) {
  UPCR_BEGIN_FUNCTION();
}
UPCR_UNIT(sparse, 3, 9, 0)

/* One entry of seven is not zero; whole numbers, so sums have one value in any order. */
static double entry(int i, int j) {
  const unsigned m = mixed((unsigned)i * 977u + (unsigned)j);
  return m % 7 == 0 ? (double)(m / 7 % 5) - 2 : 0;
}
static double from_block(const double* block, int first, int i) {
  double sum = 0;
  for (int j = 0; j != wide; ++j)
    sum += entry(i, first + j) * block[j];
  return sum;
}

/* As the translator writes it. */
/* clang-format off */
static void multiply(int n) {
  double fetched[2][wide];
  double _bupc_spillld1;
  upcr_shared_ptr_t _bupc_Mptra1, _bupc_Mptra2, _bupc_Mptra3;
  int i, b, _bupc_t, _bupc_m, _bupc_is;
  (*((_INT32*)UPCR_TLD_ADDR(upcr_forall_control))) = 1;
  i = 0;
  while(i < n)
  {
    _bupc_Mptra1 = UPCR_ADD_SHARED(y, 8ULL, i, 12ULL);
    _bupc_is = upcr_hasMyAffinity_shared(_bupc_Mptra1);
    if(_bupc_is != 0)
    {
      _bupc_Mptra2 = UPCR_ADD_SHARED(y, 8ULL, i, 12ULL);
      UPCR_PUT_SHARED_DOUBLEVAL(_bupc_Mptra2, 0, 0.0);
    }
    i = i + 1;
  }
  (*((_INT32*)UPCR_TLD_ADDR(upcr_forall_control))) = 0;
  /* From the own block on, so that no thread is asked by all others at once. */
  upcr_handle_t next = UPCR_NB_MEMGET(fetched[0], UPCR_ADD_SHARED(x, 8ULL, MYTHREAD * wide, 12ULL), wide * 8);
  for (b = 0; b < THREADS; b = b + 1) {
    const upcr_handle_t now = next;
    const int first = (b + MYTHREAD) % THREADS * wide;
    if (b + 1 < THREADS)
      next =
          UPCR_NB_MEMGET(fetched[(b + 1) % 2], UPCR_ADD_SHARED(x, 8ULL, (first + wide) % n, 12ULL), wide * 8);
    upcr_wait_syncnb(now);
    (*((_INT32*)UPCR_TLD_ADDR(upcr_forall_control))) = 1;
    i = 0;
    while(i < n)
  {
      _bupc_t = upcr_threads();
      _bupc_m = upcr_mythread();
      if(_I4MOD(i / 12, _bupc_t) == _bupc_m)
    {
        _bupc_Mptra3 = UPCR_ADD_SHARED(y, 8ULL, i, 12ULL);
        UPCR_GET_SHARED(&_bupc_spillld1, _bupc_Mptra3, 0, 8);
        UPCR_PUT_SHARED_DOUBLEVAL(_bupc_Mptra3, 0, _bupc_spillld1 + from_block(fetched[b % 2], first, i));
      }
      i = i + 1;
    }
    (*((_INT32*)UPCR_TLD_ADDR(upcr_forall_control))) = 0;
  }
  upcr_barrier(11, 0);
  (*((_INT32*)UPCR_TLD_ADDR(upcr_forall_control))) = 1;
  i = 0;
  while(i < n)
  {
    _bupc_Mptra1 = UPCR_ADD_SHARED(x, 8ULL, i, 12ULL);
    _bupc_is = upcr_hasMyAffinity_shared(_bupc_Mptra1);
    if(_bupc_is != 0)
    {
      _bupc_Mptra2 = UPCR_ADD_SHARED(y, 8ULL, i, 12ULL);
      _bupc_spillld1 = UPCR_GET_SHARED_DOUBLEVAL(_bupc_Mptra2, 0);
      _bupc_Mptra3 = UPCR_ADD_SHARED(x, 8ULL, i, 12ULL);
      UPCR_PUT_SHARED_DOUBLEVAL(_bupc_Mptra3, 0, _bupc_spillld1 / 2 + i);
    }
    i = i + 1;
  }
  (*((_INT32*)UPCR_TLD_ADDR(upcr_forall_control))) = 0;
  upcr_barrier(12, 0);
}
/* clang-format on */

WEFT_SUITE(upc_sparse) {
  const upcr_unit_t* const units[] = {&upcr_unit_sparse};
  failures = 0;
  upcr_begin(units, 1);
  const int n = wide * THREADS;
  double* const alone = calloc((size_t)n * 2, sizeof *alone);
  barrier();
  for (int round = 0; round != rounds; ++round) {
    multiply(n);
    for (int i = 0; i != n; ++i) {
      alone[n + i] = 0;
      for (int first = 0; first != n; first += wide)
        alone[n + i] += from_block(alone + first, first, i);
    }
    for (int i = 0; i != n; ++i)
      alone[i] = alone[n + i] / 2 + i;
  }
  for (int i = 0; i != n; ++i)
    CHECK(UPCR_GET_SHARED_DOUBLEVAL(UPCR_ADD_SHARED(x, 8ULL, i, 12ULL), 0) == alone[i]);
  free(alone);
  barrier();
  upcr_all_free(x);
  upcr_all_free(y);
  x = y = upcr_null_shared;
  return failures == 0 ? 0 : 1;
}

/* The longest common subsequence of two words. A thread has columns of the table, and goes down row by row;
 * it waits for a strict flag of its left neighbour, who has put the value at the border before. The source
 * would be
 *
 *   shared [ROWS] int border[THREADS][ROWS];  strict shared int ready[THREADS];
 *   while (ready[MYTHREAD] <= i) continue;  left = border[MYTHREAD][i]; ...
 *   border[MYTHREAD + 1][i] = value; ready[MYTHREAD + 1] = i + 1;
 */
enum { rows = 24, own_columns = 5 };
upcr_shared_ptr_t border;
upcr_pshared_ptr_t ready;

static void UPCRI_ALLOC_wavefront(void) {
  UPCR_BEGIN_FUNCTION();
  upcr_startup_shalloc_t info[] = {UPCRT_STARTUP_SHALLOC(border, rows * 4, 1, 1, 4, "AH_A24_R24_i")};
  upcr_startup_pshalloc_t pinfo[] = {UPCRT_STARTUP_PSHALLOC(ready, 4, 1, 1, 4, "AH_R1_i")};
  upcr_startup_shalloc(info, sizeof(info) / sizeof(upcr_startup_shalloc_t));
  upcr_startup_pshalloc(pinfo, sizeof(pinfo) / sizeof(upcr_startup_pshalloc_t));
}
static void UPCRI_INIT_wavefront(void) {
  UPCR_BEGIN_FUNCTION();
}
UPCR_UNIT(wavefront, 3, 6, 0)

static unsigned down(int i) {
  return mixed((unsigned)i + 1) % 3;
}
static unsigned across(int j) {
  return mixed((unsigned)j + 1000) % 3;
}
static int best(int above, int left, int corner, int same) {
  const int longer = above > left ? above : left;
  return same && corner + 1 > longer ? corner + 1 : longer;
}

WEFT_SUITE(upc_wavefront) {
  const upcr_unit_t* const units[] = {&upcr_unit_wavefront};
  failures = 0;
  upcr_begin(units, 1);
  int above[own_columns + 1] = {0};
  for (int i = 0; i < rows; i = i + 1) {
    int left = 0;
    if (MYTHREAD != 0) {
      int there;
      do {
        UPCR_GET_PSHARED_STRICT(&there, UPCR_ADD_PSHARED1(ready, 4ULL, MYTHREAD), 0, 4);
        if (i % 2 == 0) upcr_poll(); /* as upc_fence; and without */
      } while (there <= i);
      upcr_shared_ptr_t row = UPCR_ADD_SHARED(border, 4ULL, MYTHREAD * rows, 24ULL);
      UPCR_GET_SHARED(&left, UPCR_ADD_SHARED(row, 4ULL, i, 24ULL), 0, 4);
    }
    int corner = above[0];
    above[0] = left;
    for (int j = 1; j <= own_columns; j = j + 1) {
      const int was = above[j];
      above[j] = best(was, above[j - 1], corner, down(i) == across(MYTHREAD * own_columns + j - 1));
      corner = was;
    }
    if (MYTHREAD + 1 < THREADS) {
      upcr_shared_ptr_t row = UPCR_ADD_SHARED(border, 4ULL, (MYTHREAD + 1) * rows, 24ULL);
      UPCR_PUT_SHARED_VAL(UPCR_ADD_SHARED(row, 4ULL, i, 24ULL), 0, above[own_columns], 4);
      UPCR_PUT_PSHARED_VAL_STRICT(UPCR_ADD_PSHARED1(ready, 4ULL, MYTHREAD + 1), 0, i + 1, 4);
    }
  }
  /* The same by one thread, up to the own last column. */
  int* const alone = calloc((size_t)((MYTHREAD + 1) * own_columns + 1), sizeof *alone);
  for (int i = 0; i != rows; ++i)
    for (int j = 1, corner = 0; j <= (MYTHREAD + 1) * own_columns; ++j) {
      const int was = alone[j];
      alone[j] = best(was, alone[j - 1], corner, down(i) == across(j - 1));
      corner = was;
    }
  CHECK(above[own_columns] == alone[(MYTHREAD + 1) * own_columns]);
  CHECK(above[1] == alone[MYTHREAD * own_columns + 1]);
  free(alone);
  barrier();
  upcr_all_free(border);
  upcr_all_free(ready);
  border = ready = upcr_null_shared;
  return failures == 0 ? 0 : 1;
}

/* The nodes of a tree whose shape each node knows alone. A thread has a stack of nodes behind a lock, puts
 * the children of a node there, and takes from another thread's where its own is empty; an atomic counter
 * says how many are left. The source would be
 *
 *   struct stack { int top; struct node { unsigned name; int depth; } nodes[ROOM]; };
 *   shared struct stack stacks[THREADS];  upc_lock_t *shared locks[THREADS];  shared int64_t left, sum;
 */
enum { room = 600, deepest = 7, node_at = 8, stack_bytes = 8 + 8 * room };
upcr_pshared_ptr_t stacks, locks, left, sum;

static void UPCRI_ALLOC_stealing(void) {
  UPCR_BEGIN_FUNCTION();
  upcr_startup_pshalloc_t pinfo[] = {
      UPCRT_STARTUP_PSHALLOC(stacks, stack_bytes, 1, 1, stack_bytes, "AH_R1_S5_stack"),
      UPCRT_STARTUP_PSHALLOC(locks, 16, 1, 1, 16, "AH_R1_PR0_v"),
      UPCRT_STARTUP_PSHALLOC(left, 8, 1, 0, 8, "R1_l"),
      UPCRT_STARTUP_PSHALLOC(sum, 8, 1, 0, 8, "R1_l"),
  };
  upcr_startup_pshalloc(pinfo, sizeof(pinfo) / sizeof(upcr_startup_pshalloc_t));
}
static void UPCRI_INIT_stealing(void) {
  UPCR_BEGIN_FUNCTION();
}
UPCR_UNIT(stealing, 3, 6, 0)

typedef struct node {
  unsigned name;
  int depth;
} node;
static int children(node n) {
  return n.depth == deepest ? 0 : n.depth < 2 ? 3 : (int)(mixed(n.name + 77) % 4);
}
static node child(node n, int i) {
  return (node){mixed(n.name * 4 + (unsigned)i + 1), n.depth + 1};
}
static int64_t total(node n) {
  int64_t all = n.name;
  for (int i = 0; i != children(n); ++i)
    all += total(child(n, i));
  return all;
}
static upcr_shared_ptr_t lock_of(int thread) {
  upcr_shared_ptr_t lock;
  UPCR_GET_PSHARED(&lock, UPCR_ADD_PSHARED1(locks, 16ULL, thread), 0, 16);
  return lock;
}
/* Under the thread's lock. */
static int take(int thread, node* n) {
  const upcr_pshared_ptr_t stack = UPCR_ADD_PSHARED1(stacks, stack_bytes, thread);
  int top;
  UPCR_GET_PSHARED(&top, stack, 0, 4);
  if (top == 0) return 0;
  UPCR_GET_PSHARED(n, stack, node_at + 8 * (top - 1), 8);
  UPCR_PUT_PSHARED_VAL(stack, 0, top - 1, 4);
  return 1;
}
static void put(int thread, node n) {
  const upcr_pshared_ptr_t stack = UPCR_ADD_PSHARED1(stacks, stack_bytes, thread);
  const int top = (int)UPCR_GET_PSHARED_VAL(stack, 0, 4);
  CHECK(top < room);
  UPCR_PUT_PSHARED(stack, node_at + 8 * top, &n, 8);
  UPCR_PUT_PSHARED_VAL(stack, 0, top + 1, 4);
}

WEFT_SUITE(upc_stealing) {
  const upcr_unit_t* const units[] = {&upcr_unit_stealing};
  failures = 0;
  upcr_begin(units, 1);
  const upcr_shared_ptr_t own = UPCR_GLOBAL_LOCK_ALLOC();
  UPCR_PUT_PSHARED(UPCR_ADD_PSHARED1(locks, 16ULL, MYTHREAD), 0, &own, 16);
  const node root = {1, 0};
  if (MYTHREAD == THREADS - 1) {
    put(MYTHREAD, root);
    bupc_atomicI64_set_strict(left, 1);
  }
  upcr_barrier(21, 0);
  int victim = MYTHREAD;
  for (int64_t mine = 0;;) {
    node n;
    UPCR_LOCK(own);
    int found = take(MYTHREAD, &n);
    UPCR_UNLOCK(own);
    if (!found) {
      victim = (victim + 1) % THREADS;
      const upcr_shared_ptr_t lock = lock_of(victim);
      if (UPCR_LOCK_ATTEMPT(lock)) {
        found = take(victim, &n);
        UPCR_UNLOCK(lock);
      }
    }
    if (found) {
      mine += n.name;
      const int count = children(n);
      if (count != 0) {
        bupc_atomicI64_fetchadd_relaxed(left, count);
        UPCR_LOCK(own);
        for (int i = 0; i < count; i = i + 1)
          put(MYTHREAD, child(n, i));
        UPCR_UNLOCK(own);
      }
      bupc_atomicI64_fetchadd_strict(left, -1);
    } else if (bupc_atomicI64_read_strict(left) == 0) {
      bupc_atomicI64_fetchadd_strict(sum, mine);
      break;
    }
  }
  upcr_barrier(22, 0);
  CHECK((int64_t)UPCR_GET_PSHARED_VAL(sum, 0, 8) == total(root));
  upcr_barrier(23, 0);
  UPCR_LOCK_FREE(own);
  upcr_shared_ptr_t* const all[] = {&stacks, &locks, &left, &sum};
  for (size_t i = 0; i != sizeof all / sizeof all[0]; ++i) {
    upcr_all_free(*all[i]);
    *all[i] = upcr_null_shared;
  }
  return failures == 0 ? 0 : 1;
}
