// SPDX-License-Identifier: BSD-3-Clause
/* Every read and write of the interface: each thread writes on each, reads back, and its neighbour reads it
 * too. Bytes of every length, so that of both ways, loads and stores and calls, the borders are met. */
#include "tests/upc/check.h"

enum { room = 256, lengths = 40 };
static unsigned char from[room], to[room];
static upcr_shared_ptr_t array; /* on each thread `room` bytes for each writer */

static upcr_shared_ptr_t place(int thread, int writer) {
  upcr_shared_ptr_t p = on(array, thread);
  p.addr += (uint64_t)writer * room;
  return p;
}
static void fill(int seed) {
  for (int i = 0; i != room; ++i)
    from[i] = (unsigned char)(seed * 37 + i * 11 + MYTHREAD * 5);
  memset(to, 0, sizeof to);
}
/* These bytes came, and no more. */
static int moved(size_t n) {
  return memcmp(to, from, n) == 0 && to[n] == 0;
}
#define EACH_THREAD for (int t = 0; t != THREADS; ++t)

/* Blocks of n bytes, at an offset that is not aligned: up to 10 all, where the two ways meet, then some. */
#define MOVES(PUT, GET)                                                                                      \
  EACH_THREAD for (size_t n = 1; n < lengths; n += n < 10 ? 1 : 13) {                                        \
    fill((int)n + __LINE__);                                                                                 \
    PUT(place(t, MYTHREAD), 3, from, n);                                                                     \
    GET(to, place(t, MYTHREAD), 3, n);                                                                       \
    CHECK(moved(n));                                                                                         \
  }
/* Values in a register. */
#define VALUES(PUT, GET)                                                                                     \
  EACH_THREAD for (size_t n = 1; n <= 8; n *= 2) {                                                           \
    const uint64_t value = 0x8123456789abcdefu * (uint64_t)(t + 1) + (uint64_t)__LINE__;                     \
    PUT(place(t, MYTHREAD), 16, value, n);                                                                   \
    CHECK(GET(place(t, MYTHREAD), 16, n) == (n == 8 ? value : value & ((1ull << 8 * n) - 1)));               \
  }
#define FLOATS(PUT, GET, of)                                                                                 \
  EACH_THREAD {                                                                                              \
    const of value = (of)1.5 * (of)(t + __LINE__) + (of)MYTHREAD;                                            \
    PUT(place(t, MYTHREAD), 24, value);                                                                      \
    CHECK(GET(place(t, MYTHREAD), 24) == value);                                                             \
  }
/* With a handle. */
#define HANDLES(PUT, GET, WAIT, TRY)                                                                         \
  EACH_THREAD for (size_t n = 1; n < lengths; n += 13) {                                                     \
    fill((int)n + __LINE__);                                                                                 \
    upcr_handle_t h = PUT(place(t, MYTHREAD), 5, from, n);                                                   \
    WAIT(h);                                                                                                 \
    h = GET(to, place(t, MYTHREAD), 5, n);                                                                   \
    while (!TRY(h))                                                                                          \
      continue;                                                                                              \
    WAIT(h); /* complete it stays */                                                                         \
    CHECK(moved(n));                                                                                         \
  }
#define VALUE_HANDLES(PUT, GET)                                                                              \
  EACH_THREAD for (size_t n = 1; n <= 8; n *= 2) {                                                           \
    const uint64_t value =                                                                                   \
        (0x1020304050607080u + (uint64_t)__LINE__) & (n == 8 ? ~0ull : (1ull << 8 * n) - 1);                 \
    upcr_handle_t h = PUT(place(t, MYTHREAD), 32, value, n);                                                 \
    UPCR_WAIT_SYNCNB(h);                                                                                     \
    CHECK(GET(place(t, MYTHREAD), 32, n) == value);                                                          \
  }
/* Two values on their way at once. */
#define VALUES_ON_THEIR_WAY(PUT, BEGIN)                                                                      \
  EACH_THREAD for (size_t n = 1; n <= 8; n *= 2) {                                                           \
    PUT(place(t, MYTHREAD), 40, 0x55, n);                                                                    \
    PUT(place(t, MYTHREAD), 48, 0x66, n);                                                                    \
    upcr_valget_handle_t first = BEGIN(place(t, MYTHREAD), 40, n),                                           \
                         second = BEGIN(place(t, MYTHREAD), 48, n);                                          \
    CHECK(UPCR_WAIT_SYNCNB_VALGET(second) == 0x66);                                                          \
    CHECK(UPCR_WAIT_SYNCNB_VALGET(first) == 0x55);                                                           \
  }
/* With the implicit handle, and in a region. */
#define IMPLICIT(PUT, GET)                                                                                   \
  EACH_THREAD for (size_t n = 1; n < lengths; n += 13) {                                                     \
    fill((int)n + __LINE__);                                                                                 \
    PUT(place(t, MYTHREAD), 7, from, n);                                                                     \
    UPCR_WAIT_SYNCNBI_PUTS();                                                                                \
    GET(to, place(t, MYTHREAD), 7, n);                                                                       \
    UPCR_WAIT_SYNCNBI_GETS();                                                                                \
    CHECK(moved(n));                                                                                         \
    fill((int)n + __LINE__ + 1);                                                                             \
    UPCR_BEGIN_NBI_ACCESSREGION();                                                                           \
    EACH_THREAD PUT(place(t, MYTHREAD), 60, from, n);                                                        \
    upcr_handle_t h = UPCR_END_NBI_ACCESSREGION();                                                           \
    while (!UPCR_TRY_SYNCNB(h))                                                                              \
      continue;                                                                                              \
    UPCR_BEGIN_NBI_ACCESSREGION();                                                                           \
    GET(to, place(t, MYTHREAD), 60, n);                                                                      \
    h = UPCR_END_NBI_ACCESSREGION();                                                                         \
    UPCR_WAIT_SYNCNB(h);                                                                                     \
    CHECK(moved(n));                                                                                         \
  }

/* The functions, beside which the names in capitals stand that walks make faster. */
static void by_functions(void) {
  MOVES(upcr_put_shared, upcr_get_shared)
  MOVES(upcr_put_pshared, upcr_get_pshared)
  VALUES(upcr_put_shared_val, upcr_get_shared_val)
  VALUES(upcr_put_pshared_val, upcr_get_pshared_val)
  FLOATS(upcr_put_shared_floatval, upcr_get_shared_floatval, float)
  FLOATS(upcr_put_pshared_floatval, upcr_get_pshared_floatval, float)
  FLOATS(upcr_put_shared_doubleval, upcr_get_shared_doubleval, double)
  FLOATS(upcr_put_pshared_doubleval, upcr_get_pshared_doubleval, double)
}

static void blocking(void) {
  MOVES(UPCR_PUT_SHARED, UPCR_GET_SHARED)
  MOVES(UPCR_PUT_PSHARED, UPCR_GET_PSHARED)
  MOVES(UPCR_PUT_SHARED_STRICT, UPCR_GET_SHARED_STRICT)
  MOVES(UPCR_PUT_PSHARED_STRICT, UPCR_GET_PSHARED_STRICT)
  VALUES(UPCR_PUT_SHARED_VAL, UPCR_GET_SHARED_VAL)
  VALUES(UPCR_PUT_PSHARED_VAL, UPCR_GET_PSHARED_VAL)
  VALUES(UPCR_PUT_SHARED_VAL_STRICT, UPCR_GET_SHARED_VAL_STRICT)
  VALUES(UPCR_PUT_PSHARED_VAL_STRICT, UPCR_GET_PSHARED_VAL_STRICT)
  FLOATS(UPCR_PUT_SHARED_FLOATVAL, UPCR_GET_SHARED_FLOATVAL, float)
  FLOATS(UPCR_PUT_PSHARED_FLOATVAL, UPCR_GET_PSHARED_FLOATVAL, float)
  FLOATS(UPCR_PUT_SHARED_FLOATVAL_STRICT, UPCR_GET_SHARED_FLOATVAL_STRICT, float)
  FLOATS(UPCR_PUT_PSHARED_FLOATVAL_STRICT, UPCR_GET_PSHARED_FLOATVAL_STRICT, float)
  FLOATS(UPCR_PUT_SHARED_DOUBLEVAL, UPCR_GET_SHARED_DOUBLEVAL, double)
  FLOATS(UPCR_PUT_PSHARED_DOUBLEVAL, UPCR_GET_PSHARED_DOUBLEVAL, double)
  FLOATS(UPCR_PUT_SHARED_DOUBLEVAL_STRICT, UPCR_GET_SHARED_DOUBLEVAL_STRICT, double)
  FLOATS(UPCR_PUT_PSHARED_DOUBLEVAL_STRICT, UPCR_GET_PSHARED_DOUBLEVAL_STRICT, double)
}

static void with_handles(void) {
  HANDLES(UPCR_PUT_NB_SHARED, UPCR_GET_NB_SHARED, UPCR_WAIT_SYNCNB, UPCR_TRY_SYNCNB)
  HANDLES(UPCR_PUT_NB_PSHARED, UPCR_GET_NB_PSHARED, UPCR_WAIT_SYNCNB, UPCR_TRY_SYNCNB)
  HANDLES(UPCR_PUT_NB_SHARED_STRICT, UPCR_GET_NB_SHARED_STRICT, UPCR_WAIT_SYNCNB_STRICT,
          UPCR_TRY_SYNCNB_STRICT)
  HANDLES(UPCR_PUT_NB_PSHARED_STRICT, UPCR_GET_NB_PSHARED_STRICT, UPCR_WAIT_SYNCNB_STRICT,
          UPCR_TRY_SYNCNB_STRICT)
  VALUE_HANDLES(UPCR_PUT_NB_SHARED_VAL, UPCR_GET_SHARED_VAL)
  VALUE_HANDLES(UPCR_PUT_NB_PSHARED_VAL, UPCR_GET_PSHARED_VAL)
  VALUE_HANDLES(UPCR_PUT_NB_SHARED_VAL_STRICT, UPCR_GET_SHARED_VAL_STRICT)
  VALUE_HANDLES(UPCR_PUT_NB_PSHARED_VAL_STRICT, UPCR_GET_PSHARED_VAL_STRICT)
  VALUES_ON_THEIR_WAY(UPCR_PUT_SHARED_VAL, UPCR_GET_NB_SHARED_VAL)
  VALUES_ON_THEIR_WAY(UPCR_PUT_PSHARED_VAL, UPCR_GET_NB_PSHARED_VAL)
  IMPLICIT(UPCR_PUT_NBI_SHARED, UPCR_GET_NBI_SHARED)
  IMPLICIT(UPCR_PUT_NBI_PSHARED, UPCR_GET_NBI_PSHARED)
}

static size_t pending(const upcr_handle_t* h, size_t count) {
  size_t found = 0;
  for (size_t i = 0; i != count; ++i)
    found += h[i] != UPCR_INVALID_HANDLE;
  return found;
}

/* Of several handles, in every way; and what is wrong with regions. */
static void several(void) {
  upcr_handle_t h[16];
  fill(__LINE__);
  const size_t count = (size_t)THREADS < 16 ? (size_t)THREADS : 16;
  for (size_t i = 0; i != count; ++i)
    h[i] = UPCR_NB_MEMPUT(place((int)i, MYTHREAD), from + i, 100);
  /* Each wait for some of them leaves fewer. */
  for (size_t left = pending(h, count), before; left != 0; left = pending(h, count)) {
    before = left;
    upcr_wait_syncnb_some(h, count);
    CHECK(pending(h, count) < before);
  }
  CHECK(upcr_try_syncnb_some(h, count) == 1 && upcr_try_syncnb_all(h, count) == 1);
  upcr_wait_syncnb_all(h, count);
  for (size_t i = 0; i != count; ++i) {
    CHECK(h[i] == UPCR_INVALID_HANDLE);
    h[i] = UPCR_NB_MEMGET(to + 100 * (i % 2), place((int)i, MYTHREAD), 100);
    UPCR_WAIT_SYNCNB(h[i]);
    CHECK(memcmp(to + 100 * (i % 2), from + i, 100) == 0);
    h[i] = UPCR_NB_MEMCPY(place((int)i, MYTHREAD), place((int)((i + 1) % count), MYTHREAD), 50);
    UPCR_WAIT_SYNCNB(h[i]);
    h[i] = UPCR_NB_MEMSET(place((int)i, MYTHREAD), 9, 20);
  }
  while (!upcr_try_syncnb_all(h, count))
    continue;
  EACH_THREAD {
    if ((size_t)t >= count) break;
    UPCR_MEMGET(to, place(t, MYTHREAD), 50);
    const int neighbour = (t + 1) % (int)count;
    for (int i = 0; i != 20; ++i)
      CHECK(to[i] == 9);
    if (count > 1 && neighbour != 0) CHECK(memcmp(to + 20, from + neighbour + 20, 30) == 0);
  }
  UPCR_NBI_MEMPUT(place(0, MYTHREAD), from, 64);
  while (!UPCR_TRY_SYNCNBI_PUTS())
    continue;
  UPCR_NBI_MEMCPY(place(THREADS - 1, MYTHREAD), place(0, MYTHREAD), 0);
  UPCR_NBI_MEMSET(place(THREADS - 1, MYTHREAD), 4, 8);
  UPCR_WAIT_SYNCNBI_ALL();
  while (!UPCR_TRY_SYNCNBI_ALL())
    continue;
  UPCR_NBI_MEMGET(to, place(THREADS - 1, MYTHREAD), 64);
  while (!UPCR_TRY_SYNCNBI_GETS())
    continue;
  CHECK(to[0] == 4 && to[7] == 4);
  UPCR_MEMPUT(place(0, MYTHREAD), from, 100);
  UPCR_MEMSET(place(0, MYTHREAD), 7, 10);
  UPCR_MEMCPY(place(THREADS - 1, MYTHREAD), place(0, MYTHREAD), THREADS == 1 ? 0 : 100);
  UPCR_MEMGET(to, place(THREADS - 1, MYTHREAD), 100);
  CHECK(to[9] == 7 && memcmp(to + 10, from + 10, 90) == 0);
  UPCR_BEGIN_NBI_ACCESSREGION();
  REPORTED(upcr_begin_nbi_accessregion(), "in a region");
  CHECK(upcr_end_nbi_accessregion() == UPCR_INVALID_HANDLE);
  REPORTED(upcr_end_nbi_accessregion(), "begin one first");
  upcrt_memput_nb(place(0, MYTHREAD), from, 100);
  UPCR_WAIT_SYNCNBI_PUTS();
  UPCR_MEMGET(to, place(0, MYTHREAD), 100);
  CHECK(memcmp(to, from, 100) == 0);
}

/* What one thread wrote another reads behind a barrier, and by a flag with strict accesses. */
static void between_threads(void) {
  const int right = (MYTHREAD + 1) % THREADS, left = (MYTHREAD + THREADS - 1) % THREADS;
  UPCR_PUT_SHARED_VAL(place(right, MYTHREAD), 8, 1000 + MYTHREAD, 4);
  barrier();
  CHECK((int)UPCR_GET_SHARED_VAL(place(MYTHREAD, left), 8, 4) == 1000 + left);
  UPCR_PUT_SHARED_VAL(place(MYTHREAD, MYTHREAD), 100, 0, 8);
  barrier();
  UPCR_PUT_SHARED_VAL_STRICT(place(right, right), 104, 2000 + MYTHREAD, 4);
  UPCR_PUT_SHARED_VAL_STRICT(place(right, right), 100, 1, 4);
  while (UPCR_GET_SHARED_VAL_STRICT(place(MYTHREAD, MYTHREAD), 100, 4) == 0)
    upcr_poll();
  CHECK((int)UPCR_GET_SHARED_VAL_STRICT(place(MYTHREAD, MYTHREAD), 104, 4) == 2000 + left);
  barrier();
  REPORTED(UPCR_PUT_SHARED_VAL(upcr_null_shared, 0, 1, 4), "null");
  REPORTED((void)UPCR_GET_PSHARED_VAL(upcr_null_pshared, 0, 8), "null");
}

WEFT_SUITE(upc_accesses) {
  begin_without_units();
  array = UPCR_ALL_ALLOC((size_t)THREADS, (size_t)THREADS * room);
  blocking();
  by_functions();
  with_handles();
  several();
  between_threads();
  barrier();
  upcr_all_free(array);
  return failures == 0 ? 0 : 1;
}
