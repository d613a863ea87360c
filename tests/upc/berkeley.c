// SPDX-License-Identifier: BSD-3-Clause
/* What Berkeley UPC has beyond the language, by the names that its translated text has: atomic operations of
 * every type, order and place against what the same steps make of a private variable; how far threads are
 * apart; and pointers made of addresses.
 *
 * Mutations that this catches: mswap that takes the mask for the value; an operation on 4 bytes that writes
 * 8; a distance that holds threads of two hosts for neighbours. */
#include "tests/upc/check.h"

#include <errno.h>

/* One thread, on the memory of each: the words in front and behind stay. */
#define ATOMICS(letters, type, order)                                                                        \
  static void alone_##letters##_##order(upcr_shared_ptr_t array, int thread) {                               \
    upcr_shared_ptr_t p = on(array, thread);                                                                 \
    p.addr += 64 * (1 + (uint64_t)MYTHREAD);                                                                 \
    upcr_shared_ptr_t front = p, behind = p;                                                                 \
    front.addr -= 4;                                                                                         \
    behind.addr += sizeof(type);                                                                             \
    upcr_put_shared_val(front, 0, 0x5a5a5a5a, 4);                                                            \
    upcr_put_shared_val(behind, 0, 0x5a5a5a5a, 4);                                                           \
    type v = (type)-7;                                                                                       \
    bupc_atomic##letters##_set_##order(p, v);                                                                \
    CHECK(bupc_atomic##letters##_read_##order(p) == v);                                                      \
    CHECK(bupc_atomic##letters##_swap_##order(p, 8) == v);                                                   \
    CHECK(bupc_atomic##letters##_fetchadd_##order(p, (type)-3) == 8);                                        \
    CHECK(bupc_atomic##letters##_cswap_##order(p, 6, 99) == 5);                                              \
    CHECK(bupc_atomic##letters##_cswap_##order(p, 5, 8) == 5);                                               \
    CHECK(bupc_atomic##letters##_mswap_##order(p, 7, 255) == 8);                                             \
    CHECK(bupc_atomic##letters##_mswap_##order(p, 24, 247) == 15);                                           \
    CHECK(bupc_atomic##letters##_fetchand_##order(p, 20) == 23);                                             \
    CHECK(bupc_atomic##letters##_fetchor_##order(p, 9) == 20);                                               \
    CHECK(bupc_atomic##letters##_fetchxor_##order(p, 12) == 29);                                             \
    CHECK(bupc_atomic##letters##_fetchnot_##order(p) == 17);                                                 \
    CHECK(bupc_atomic##letters##_read_##order(p) == (type) ~(type)17);                                       \
    CHECK(upcr_get_shared_val(front, 0, 4) == 0x5a5a5a5a &&                                                  \
          upcr_get_shared_val(behind, 0, 4) == 0x5a5a5a5a);                                                  \
  }                                                                                                          \
  /* All threads at once, on one word: each has another number, and all come to the sum. */                  \
  static void together_##letters##_##order(upcr_shared_ptr_t array) {                                        \
    const upcr_shared_ptr_t p = on(array, THREADS - 1);                                                      \
    if (MYTHREAD == 0) bupc_atomic##letters##_set_##order(p, 0);                                             \
    barrier();                                                                                               \
    for (int k = 0; k != 5; ++k)                                                                             \
      (void)bupc_atomic##letters##_fetchadd_##order(p, (type)(MYTHREAD + 1));                                \
    (void)bupc_atomic##letters##_mswap_##order(p, 0, 1);                                                     \
    barrier();                                                                                               \
    CHECK(bupc_atomic##letters##_read_##order(p) == (type)(5 * THREADS * (THREADS + 1) / 2));                \
    barrier();                                                                                               \
  }                                                                                                          \
  static void all_of_##letters##_##order(upcr_shared_ptr_t array) {                                          \
    for (int t = 0; t != THREADS; ++t)                                                                       \
      alone_##letters##_##order(array, t);                                                                   \
    barrier();                                                                                               \
    together_##letters##_##order(array);                                                                     \
  }
#define TYPES(with)                                                                                          \
  with(U64, uint64_t) with(I64, int64_t) with(U32, uint32_t) with(I32, int32_t) with(UI, unsigned int)       \
      with(I, int) with(UL, unsigned long) with(L, long)
#define DEFINE(letters, type) ATOMICS(letters, type, relaxed) ATOMICS(letters, type, strict)
TYPES(DEFINE)

static void atomics(upcr_shared_ptr_t array) {
#define CALL(letters, type)                                                                                  \
  all_of_##letters##_relaxed(array);                                                                         \
  all_of_##letters##_strict(array);
  TYPES(CALL)
}

static void distances(void) {
  CHECK(BUPC_THREADS_SAME == 0 && BUPC_THREADS_SAME < BUPC_THREADS_VERYNEAR &&
        BUPC_THREADS_VERYNEAR < BUPC_THREADS_NEAR && BUPC_THREADS_NEAR < BUPC_THREADS_FAR &&
        BUPC_THREADS_FAR < BUPC_THREADS_VERYFAR);
  for (int a = 0; a != THREADS; ++a) {
    for (int b = 0; b != THREADS; ++b)
      CHECK(bupc_thread_distance(a, b) == bupc_thread_distance(b, a));
    const unsigned to_me = bupc_thread_distance(a, MYTHREAD);
    CHECK((to_me == BUPC_THREADS_SAME) == (a == MYTHREAD));
    CHECK((to_me <= BUPC_THREADS_VERYNEAR) == bupc_thread_castable((unsigned)a));
  }
  CHECK(!_bupc_thread_castable((unsigned)THREADS));
  REPORTED((void)bupc_thread_distance(0, THREADS), "no such thread");
}

static void pointers(upcr_shared_ptr_t array) {
  const upcr_shared_ptr_t p = {array.addr + 64, (uint32_t)MYTHREAD, 0};
  upcr_shared_ptr_t next = on(p, (MYTHREAD + 1) % THREADS), q;
  upcr_pshared_ptr_t r;
  int private_one = 0;
  void* const mine = upcr_shared_to_processlocal(p);
  CHECK(upcr_pshared_to_processlocal(p) == mine && _bupc_cast(p) == mine && bupc_cast(p) == mine);
  CHECK(upcr_hasAffinity_shared(p, (upcr_thread_t)MYTHREAD) &&
        upcr_hasAffinity_pshared(p, (upcr_thread_t)MYTHREAD));
  CHECK(upcr_hasAffinity_shared(next, (upcr_thread_t)MYTHREAD) == (THREADS == 1) &&
        upcr_hasAffinity_pshared(next, (upcr_thread_t)MYTHREAD) == (THREADS == 1));
  const upcr_shared_ptr_t with_initialiser = UPCR_INITIALIZED_SHARED;
  CHECK(upcr_is_init_shared(with_initialiser) && upcr_is_init_pshared(with_initialiser) &&
        !upcr_is_init_shared(p) && !upcr_is_init_pshared(upcr_null_pshared));
  CHECK(upcr_isequal_shared_shared(upcr_local_to_shared(mine), p) &&
        upcr_isequal_shared_shared(upcr_local_to_pshared(mine), p));
  upcr_local_to_shared_ref(mine, &q);
  upcr_local_to_pshared_ref(mine, &r);
  CHECK(upcr_isequal_shared_shared(q, p) && upcr_isequal_shared_shared(r, p));
  q = upcr_mylocal_to_shared_withphase(mine, 3, next.thread);
  CHECK(upcr_isequal_shared_shared(q, next) && q.phase == 3);
  CHECK(upcr_isequal_shared_shared(_bupc_local_to_shared(mine, (int)next.thread, 2), next));
  CHECK(upcr_isequal_shared_shared(_bupc_inverse_cast(mine), p));
  for (int t = 0; t != THREADS; ++t) {
    void* const there = upc_cast(on(p, t));
    CHECK(_bupc_castable(on(p, t)) == (there != NULL) && bupc_castable(on(p, t)) == (there != NULL));
    if (there == NULL) continue;
    q = upcr_local_to_shared_withphase(there, 2, (upcr_thread_t)t);
    CHECK(upcr_isequal_shared_shared(q, on(p, t)) && q.phase == 2);
    upcr_local_to_shared_ref_withphase(there, 1, (upcr_thread_t)t, &q);
    CHECK(upcr_isequal_shared_shared(q, on(p, t)) && q.phase == 1);
    CHECK(upcr_isequal_shared_local(on(p, t), there) == (t == MYTHREAD) &&
          upcr_isequal_pshared_local(on(p, t), there) == (t == MYTHREAD));
  }
  CHECK(upcr_isnull_shared(upcr_local_to_shared(NULL)) &&
        upcr_isnull_shared(upcr_local_to_shared_withphase(NULL, 1, 1)));
  CHECK(upcr_isequal_shared_local(upcr_null_shared, NULL) && !upcr_isequal_shared_local(p, NULL) &&
        !upcr_isequal_shared_local(upcr_null_shared, mine) && !upcr_isequal_shared_local(p, &private_one));
  upcr_shared_ptr_t phased = upcr_pshared_to_shared_withphase(p, 5);
  CHECK(phased.phase == 5 && upcr_isequal_shared_shared(phased, p));
  upcr_shared_to_pshared_ref(phased, &r);
  CHECK(r.phase == 0 && upcr_isequal_pshared_shared(r, p));
  upcr_pshared_to_shared_ref(r, &q);
  CHECK(q.phase == 0 && upcr_isequal_shared_shared(q, p));
  upcr_pshared_to_shared_ref_withphase(r, 4, &q);
  CHECK(q.phase == 4);
  upcr_shared_resetphase_ref(&q);
  CHECK(q.phase == 0 && upcr_isequal_shared_shared(q, p));
  CHECK(upcr_thread_info((size_t)MYTHREAD).guaranteedCastable ==
        upc_thread_info((size_t)MYTHREAD).guaranteedCastable);
  CHECK(upcr_isequal_shared_shared(_bupc_ptradd(p, 1, 4, 1), upcr_add_pshared1(p, 4, 1)));
}

static void the_rest(upcr_shared_ptr_t array) {
  char text[BUPC_DUMP_MIN_LENGTH];
  CHECK(_bupc_dump_shared(array, text, BUPC_DUMP_MIN_LENGTH) == 0 &&
        strstr(text, "thread=0, phase=0>") != NULL);
  CHECK(bupc_dump_shared(upcr_null_shared, text, sizeof text) == 0 && strcmp(text, "<NULL>") == 0);
  errno = 0;
  CHECK(bupc_dump_shared(array, text, BUPC_DUMP_MIN_LENGTH - 1) == -1 && errno == EINVAL);
  CHECK(bupc_getenv("PATH") == getenv("PATH") && bupc_getenv("NO_SUCH_NAME_") == NULL);
  CHECK(bupc_tick_granularityus() > 0 && bupc_tick_overheadus() > 0 && BUPC_TICK_MIN < BUPC_TICK_MAX);
  bupc_trace_setmask("PGH");
  bupc_stats_setmask("");
  bupc_trace_settracelocal(1);
  CHECK(*bupc_trace_getmask() == 0 && *bupc_stats_getmask() == 0 && bupc_trace_gettracelocal() == 0);
  int value = 42;
  upcr_handle_t h = UPCR_RET_handle_t(upcr_put_nb_shared(on(array, MYTHREAD), 0, &value, sizeof value));
  upcr_wait_syncnb(UPCR_ARG_handle_t(h));
  upcr_valget_handle_t v =
      UPCR_RET_val_handle_t(upcr_get_nb_shared_val(on(array, MYTHREAD), 0, sizeof value));
  CHECK(UPCR_RET_reg_value_t(upcr_wait_syncnb_valget(UPCR_ARG_val_handle_t(v))) == UPCR_ARG_reg_value_t(42));
}

/* The operators of its text, against what they are by definition, in wider numbers. */
#define DIVISIONS(letters, type)                                                                             \
  for (long a = sizeof(type) == 4 || (type)-1 < 1 ? -9 : 0; a != 10; ++a)                                    \
    for (long b = -4; b != 5; ++b) {                                                                         \
      if (b == 0 || ((type)-1 > 0 && (a < 0 || b < 0))) continue;                                            \
      const long least = (a - ((a % b + b) % b)) / b, most = least + ((a % b) != 0);                         \
      CHECK(_##letters##DIVFLOOR((type)a, (type)b) == (type)least);                                          \
      CHECK(_##letters##DIVCEIL((type)a, (type)b) == (type)most);                                            \
      CHECK(_##letters##MODFLOOR((type)a, (type)b) == (type)(a - b * least));                                \
      CHECK(_##letters##MODCEIL((type)a, (type)b) == (type)(a - b * most));                                  \
      CHECK(_##letters##MAX((type)a, (type)b) == (type)(a > b ? a : b));                                     \
      CHECK(_##letters##MIN((type)a, (type)b) == (type)(a < b ? a : b));                                     \
    }
#define ROUNDS(letters, type, from, real)                                                                    \
  for (int half = (type)-1 < 1 ? -7 : 0; half != 8; ++half) {                                                \
    const real value = (real)half / 2;                                                                       \
    CHECK(_##letters##from##TRUNC(value) == (type)(half / 2));                                               \
    CHECK(_##letters##from##RND(value) == (type)((half + (half > 0) - (half < 0)) / 2));                     \
    CHECK(_##letters##from##CEIL(value) == (type)(half / 2 + (half > 0 && half % 2 != 0)));                  \
    CHECK(_##letters##from##FLOOR(value) == (type)(half / 2 - (half < 0 && half % 2 != 0)));                 \
  }
#define OF_INTEGER(letters, type, top)                                                                       \
  DIVISIONS(letters, type)                                                                                   \
  ROUNDS(letters, type, F4, float)                                                                           \
  ROUNDS(letters, type, F8, double)                                                                          \
  ROUNDS(letters, type, FQ, long double)                                                                     \
  CHECK(_##letters##SHL((type)3, 1) == 6 && _##letters##SHL((type)3, 8 * (int)sizeof(type) + 2) == 12);      \
  CHECK(_##letters##ASHR((type)(top), 1) == (type)((top) | (top) >> 1));                                     \
  CHECK(_##letters##LSHR((type)(top), 1) == (type)((top) >> 1));
#define OF_REAL(letters, type)                                                                               \
  CHECK(_##letters##ABS((type)-2.5) == (type)2.5 && _##letters##ABS((type)2.5) == (type)2.5);                \
  CHECK(_##letters##MAX((type)-1, 2) == 2 && _##letters##MIN((type)-1, 2) == -1);                            \
  CHECK(_##letters##SQRT((type)9) == 3 && _##letters##RECIP((type)4) == (type)0.25 &&                        \
        _##letters##RSQRT((type)16) == (type)0.25);
static void operators(void) {
  OF_INTEGER(I4, _INT32, 0x80000000u)
  OF_INTEGER(U4, _UINT32, 0x80000000u)
  OF_INTEGER(I8, _INT64, 1ull << 63)
  OF_INTEGER(U8, _UINT64, 1ull << 63)
  OF_REAL(F4, _IEEE32)
  OF_REAL(F8, _IEEE64)
  OF_REAL(FQ, _QUAD)
  CHECK(_I4ABS(-5) == 5 && _I8ABS(-5) == 5 && _I4MOD(-1, 4) == 3 && _I8MOD(-1, 4) == 3 &&
        _I4MOD(1, -4) == -3);
  CHECK(INT_CVTL_N(0x1e, _INT32, 5) == -2 && INT_CVTL_N(0xe, _INT64, 5) == 14 &&
        UINT_CVTL_N(0x3e, _UINT64, 5) == 0x1e);
  CHECK(sizeof(_INT8) == 1 && sizeof(_INT16) == 2 && sizeof(_UINT8) == 1 && sizeof(_UINT16) == 2 &&
        sizeof(_BOOLEAN) == 1 && sizeof(_IEEEX80) == sizeof(long double));
}

WEFT_SUITE(upc_berkeley) {
  begin_without_units();
  const upcr_shared_ptr_t array = upcr_all_alloc((size_t)THREADS, 64 * ((size_t)THREADS + 2));
  atomics(array);
  distances();
  pointers(array);
  the_rest(array);
  operators();
  barrier();
  upcr_all_free(array);
  return failures == 0 ? 0 : 1;
}
