// SPDX-License-Identifier: BSD-3-Clause
/* A file as a translator makes it, with shared data of every kind; its start, and what is wrong with one. The
 * source would be
 *
 *   shared int answer = 42;
 *   shared double cyclic[10 * THREADS];
 *   shared [5] int table[3][4][2 * THREADS] = {{{1, 2}, {3, 4}, {5, 6}, {1, 2, 3, 4, 5}}};
 *   shared [] char text[20] = "to thread 0";
 *   shared [3] short blocks[3 * THREADS + 7];
 *   int mine = 7;
 */
#include "tests/upc/check.h"

upcr_pshared_ptr_t answer = UPCR_INITIALIZED_PSHARED;
upcr_pshared_ptr_t cyclic;
upcr_shared_ptr_t table = UPCR_INITIALIZED_SHARED;
static upcr_pshared_ptr_t text = UPCR_INITIALIZED_PSHARED;
upcr_shared_ptr_t blocks;
int UPCR_TLD_DEFINE(mine, 4, 4) = 7;
int UPCR_TLD_DEFINE_TENTATIVE(zero, 4, 4);
#ifndef UPCR_TRANS_EXTRA_INCL
#error "what a translator writes under this condition would be there twice"
#endif
static int table_values[1][4][5] = {{{1, 2}, {3, 4}, {5, 6}, {1, 2, 3, 4, 5}}};
static char text_values[20] = "to thread 0";

static void UPCRI_ALLOC_program(void) {
  UPCR_BEGIN_FUNCTION();
  upcr_startup_shalloc_t info[] = {
      UPCRT_STARTUP_SHALLOC(table, 20, 5, 1, 4, "A3_A4_A2H_R5_i"),
      UPCRT_STARTUP_SHALLOC(blocks, 6, (size_t)(THREADS + 3), 0, 2, "R3_s"),
  };
  upcr_startup_pshalloc_t pinfo[] = {
      UPCRT_STARTUP_PSHALLOC(answer, 4, 1, 0, 4, "R1_i"),
      UPCRT_STARTUP_PSHALLOC(cyclic, 8, 10, 1, 8, "A10H_R1_d"),
      UPCRT_STARTUP_PSHALLOC(text, 20, 1, 0, 1, "A20_R0_c"),
  };
  UPCR_SET_SRCPOS("_program_ALLOC", 0);
  upcr_startup_shalloc(info, sizeof(info) / sizeof(upcr_startup_shalloc_t));
  upcr_startup_pshalloc(pinfo, sizeof(pinfo) / sizeof(upcr_startup_pshalloc_t));
}

static void UPCRI_INIT_program(void) {
  UPCR_BEGIN_FUNCTION();
  upcr_startup_arrayinit_diminfo_t table_dims[] = {{1, 3, 0}, {4, 4, 0}, {5, 2, 1}};
  upcr_startup_arrayinit_diminfo_t text_dims[] = {{20, 20, 0}};
  if (upcr_mythread() == 0) UPCR_PUT_PSHARED_VAL(answer, 0, 42, 4);
  upcr_startup_initarray(table, table_values, table_dims, 3, 4, 5);
  upcr_startup_initparray(text, text_values, text_dims, 1, 1, 0);
  UPCR_EXIT_FUNCTION();
}
UPCR_UNIT(program, 3, 6, 0)

static void data(void) {
  const int row = 2 * THREADS;
  CHECK((int)UPCR_GET_PSHARED_VAL(answer, 0, 4) == 42);
  for (int i = 0; i != 10 * THREADS; ++i)
    CHECK(UPCR_GET_PSHARED_DOUBLEVAL(UPCR_ADD_PSHARED1(cyclic, 8, i), 0) == 0);
  for (int i = 0; i != 3 * 4 * row; ++i) {
    const int a = i / (4 * row), b = i / row % 4, c = i % row;
    const int expected = a < 1 && c < 5 ? table_values[a][b][c] : 0;
    CHECK((int)UPCR_GET_SHARED_VAL(UPCR_ADD_SHARED(table, 4, i, 5), 0, 4) == expected);
  }
  char read[20];
  UPCR_GET_PSHARED(read, text, 0, 20);
  CHECK(strcmp(read, "to thread 0") == 0 && UPCR_THREADOF_PSHARED(text) == 0);
  for (int i = 0; i != 3 * THREADS + 7; ++i)
    CHECK(UPCR_GET_SHARED_VAL(UPCR_ADD_SHARED(blocks, 2, i, 3), 0, 2) == 0);
  CHECK(*(int*)UPCR_TLD_ADDR(mine) == 7 && *(int*)UPCR_TLD_ADDR(zero) == 0);
  /* Without values it is zeros again, and what has memory keeps it. */
  const upcr_startup_arrayinit_diminfo_t dims[] = {{0, 3, 0}, {0, 4, 0}, {0, 2, 1}};
  const upcr_shared_ptr_t before = table;
  barrier();
  UPCRI_ALLOC_program();
  upcr_startup_initarray(table, NULL, dims, 3, 4, 5);
  barrier();
  CHECK(upcr_isequal_shared_shared(before, table));
  CHECK(UPCR_GET_SHARED_VAL(table, 0, 4) == 0);
}

static void barriers(void) {
  upcr_notify(5, 0);
  upcr_wait(5, 0);
  upcr_barrier(6, 0);
  upcr_notify(0, UPCR_BARRIERFLAG_ANONYMOUS);
  upcr_wait(9, UPCR_BARRIERFLAG_ANONYMOUS);
  upcr_notify(5, 0);
  while (!upcr_try_wait(5, 0))
    continue;
  REPORTED(upcr_wait(5, 0), "no upc_notify");
  REPORTED((void)upcr_try_wait(5, 0), "no upc_notify");
  upcr_notify(1, 0);
  REPORTED(upcr_wait(2, 0), "differs");
  upcr_wait(1, 0);
  /* A try says no as long as a thread has not come. */
  UPCR_PUT_PSHARED_VAL(answer, 0, 0, 4);
  barrier();
  if (MYTHREAD != 0 || THREADS == 1) {
    while (THREADS > 1 && UPCR_GET_PSHARED_VAL_STRICT(answer, 0, 4) == 0)
      upcr_poll();
    upcr_notify(0, UPCR_BARRIERFLAG_ANONYMOUS);
    upcr_wait(0, UPCR_BARRIERFLAG_ANONYMOUS);
  } else {
    upcr_notify(0, UPCR_BARRIERFLAG_ANONYMOUS);
    CHECK(!upcr_try_wait(0, UPCR_BARRIERFLAG_ANONYMOUS));
    UPCR_PUT_PSHARED_VAL_STRICT(answer, 0, 1, 4);
    while (!upcr_try_wait(0, UPCR_BARRIERFLAG_ANONYMOUS))
      continue;
  }
}

static void locks(void) {
  const upcr_shared_ptr_t lock = UPCR_ALL_LOCK_ALLOC();
  upcr_shared_ptr_t own = UPCR_GLOBAL_LOCK_ALLOC();
  if (MYTHREAD == 0) UPCR_PUT_PSHARED_VAL(answer, 0, 0, 4);
  barrier();
  for (int i = 0; i != 20; ++i) {
    UPCR_LOCK(lock);
    UPCR_PUT_PSHARED_VAL(answer, 0, UPCR_GET_PSHARED_VAL(answer, 0, 4) + 1, 4);
    UPCR_UNLOCK(lock);
  }
  barrier();
  CHECK((int)UPCR_GET_PSHARED_VAL(answer, 0, 4) == 20 * THREADS);
  CHECK(UPCR_LOCK_ATTEMPT(own) == 1);
  UPCR_UNLOCK(own);
  UPCR_LOCK_FREE(own);
  UPCR_ALL_LOCK_FREE(lock);
}

/* upc_forall as a translator writes it: one within another one has all iterations. */
static void forall(void) {
  int outer = 0, inner = 0;
  *(int32_t*)UPCR_TLD_ADDR(upcr_forall_control) = 1;
  for (int i = upcrt_forall_start(0, 1, 0, 1); i < 5 * THREADS; i += THREADS) {
    ++outer;
    if (*(int32_t*)UPCR_TLD_ADDR(upcrt_forall_control))
      for (int k = 0; k != 3; ++k)
        ++inner;
  }
  *(int32_t*)UPCR_TLD_ADDR(upcr_forall_control) = 0;
  CHECK(outer == 5 && inner == 15);
}

/* The library, under the names of Berkeley's headers. */
static void names_of_the_library(void) {
  static const char* const names[] = {_STRINGIFY(bupc_all_broadcast),
                                      _STRINGIFY(bupc_all_scatter),
                                      _STRINGIFY(bupc_all_gather),
                                      _STRINGIFY(bupc_all_gather_all),
                                      _STRINGIFY(bupc_all_exchange),
                                      _STRINGIFY(bupc_all_permute),
                                      _STRINGIFY(bupc_all_reduceC),
                                      _STRINGIFY(bupc_all_reduceUC),
                                      _STRINGIFY(bupc_all_reduceS),
                                      _STRINGIFY(bupc_all_reduceUS),
                                      _STRINGIFY(bupc_all_reduceI),
                                      _STRINGIFY(bupc_all_reduceUI),
                                      _STRINGIFY(bupc_all_reduceL),
                                      _STRINGIFY(bupc_all_reduceUL),
                                      _STRINGIFY(bupc_all_reduceF),
                                      _STRINGIFY(bupc_all_reduceD),
                                      _STRINGIFY(bupc_all_reduceLD),
                                      _STRINGIFY(bupc_all_prefix_reduceC),
                                      _STRINGIFY(bupc_all_prefix_reduceUC),
                                      _STRINGIFY(bupc_all_prefix_reduceS),
                                      _STRINGIFY(bupc_all_prefix_reduceUS),
                                      _STRINGIFY(bupc_all_prefix_reduceI),
                                      _STRINGIFY(bupc_all_prefix_reduceUI),
                                      _STRINGIFY(bupc_all_prefix_reduceL),
                                      _STRINGIFY(bupc_all_prefix_reduceUL),
                                      _STRINGIFY(bupc_all_prefix_reduceF),
                                      _STRINGIFY(bupc_all_prefix_reduceD),
                                      _STRINGIFY(bupc_all_prefix_reduceLD),
                                      _STRINGIFY(bupc_all_fopen),
                                      _STRINGIFY(bupc_all_fclose),
                                      _STRINGIFY(bupc_all_fsync),
                                      _STRINGIFY(bupc_all_fseek),
                                      _STRINGIFY(bupc_all_fset_size),
                                      _STRINGIFY(bupc_all_fget_size),
                                      _STRINGIFY(bupc_all_fpreallocate),
                                      _STRINGIFY(bupc_all_fcntl),
                                      _STRINGIFY(bupc_all_fread_local),
                                      _STRINGIFY(bupc_all_fread_shared),
                                      _STRINGIFY(bupc_all_fwrite_local),
                                      _STRINGIFY(bupc_all_fwrite_shared),
                                      _STRINGIFY(bupc_all_fread_list_local),
                                      _STRINGIFY(bupc_all_fread_list_shared),
                                      _STRINGIFY(bupc_all_fwrite_list_local),
                                      _STRINGIFY(bupc_all_fwrite_list_shared),
                                      _STRINGIFY(bupc_all_fread_local_async),
                                      _STRINGIFY(bupc_all_fread_shared_async),
                                      _STRINGIFY(bupc_all_fwrite_local_async),
                                      _STRINGIFY(bupc_all_fwrite_shared_async),
                                      _STRINGIFY(bupc_all_fread_list_local_async),
                                      _STRINGIFY(bupc_all_fread_list_shared_async),
                                      _STRINGIFY(bupc_all_fwrite_list_local_async),
                                      _STRINGIFY(bupc_all_fwrite_list_shared_async),
                                      _STRINGIFY(bupc_all_fwait_async),
                                      _STRINGIFY(bupc_all_ftest_async)};
  for (size_t i = 0; i != sizeof names / sizeof names[0]; ++i)
    CHECK(strncmp(names[i], "upc_all_", 8) == 0);
}

/* What has another name here. */
static void other_names(void) {
  double from = 2.5 + MYTHREAD, to = 0;
  const upcr_shared_ptr_t at = UPCR_ADD_PSHARED1(cyclic, 8, MYTHREAD);
  bupc_handle_t h[2] = {bupc_memput_async(at, &from, 8), BUPC_COMPLETE_HANDLE};
  bupc_waitsync(h[0]);
  h[0] = bupc_memget_async(&to, at, 8);
  while (!bupc_trysync(h[0]))
    continue;
  CHECK(to == from);
  bupc_waitsync_all(h, 2);
  CHECK(bupc_trysync_all(h, 2) && bupc_trysync_some(h, 2));
  bupc_waitsync_some(h, 2);
  bupc_waitsync(bupc_memset_async(at, 0, 8));
  bupc_waitsync(bupc_memcpy_async(at, at, 0));
  bupc_begin_accessregion();
  bupc_memput_asynci(at, &from, 8);
  bupc_waitsync(bupc_end_accessregion());
  bupc_memget_asynci(&to, at, 8);
  bupc_waitsynci();
  CHECK(to == from && bupc_trysynci());
  bupc_memset_asynci(at, 0, 8);
  bupc_memcpy_asynci(at, at, 0);
  bupc_waitsynci();
  bupc_poll();
  CHECK(bupc_cast(at) == upc_cast(at));
  CHECK(upcr_isequal_shared_shared(bupc_ptradd(cyclic, 1, 8, MYTHREAD), at));
  const bupc_tick_t begin = bupc_ticks_now();
  CHECK(bupc_ticks_to_ns(bupc_ticks_now() - begin) / 1000 <= bupc_ticks_to_us(bupc_ticks_now() - begin) + 1);
  _INT64 wide = -1;
  _UINT8 narrow = 200;
  _IEEE64 real = 0.5;
  CHECK(sizeof(_INT8) + sizeof(_INT16) + sizeof(_INT32) == 7 && sizeof(_UINT16) + sizeof(_UINT32) == 6);
  CHECK(sizeof(_UINT64) == sizeof wide && narrow == 200 && real == 0.5 && sizeof(_IEEE32) == 4);
  CHECK(sizeof(_IEEEX80) == sizeof(long double) && sizeof(_BOOLEAN) == 1);
  GASNETT_IDENT(mark, "$UPCRConfig: (program) " UPCR_CONFIG_STRING UPCRI_THREADCONFIG_STR " $");
  GASNETT_IDENT(other, "$GASNetConfig: (program) " GASNET_CONFIG_STRING " " _STRINGIFY(x) " $");
  CHECK(sizeof mark > 10 && sizeof other > 10);
  CHECK((UPCR_RET_shared_ptr_t(at)).addr == (UPCR_ARG_pshared_ptr_t(at)).addr);
  CHECK((UPCR_RET_pshared_ptr_t(at)).addr == (UPCR_ARG_shared_ptr_t(at)).addr);
}

/* Of a file that does not fit one line is told, and nothing is begun. */
static void nothing(void) {
  CHECK(!"a unit that is refused is not begun");
}
static void refused(int major, int minor, int threads, const char* words) {
  const upcr_unit_t unit = {"other", nothing, nothing, major, minor, threads};
  const upcr_unit_t* const units[] = {&unit};
  REPORTED(upcr_begin(units, 1), words);
  CHECK(strstr(told, "other") != NULL);
}
static upcr_pshared_ptr_t giant;
static void errors(void) {
  refused(3, UPCR_RUNTIME_SPEC_MINOR + 1, 0, "3.15");
  refused(UPCR_RUNTIME_SPEC_MAJOR + 1, 0, 0, "runtime specification 4.0");
  refused(3, 6, THREADS + 1, "compiled for");
  upcr_startup_pshalloc_t pinfo[] = {UPCRT_STARTUP_PSHALLOC(giant, 1ull << 40, 1, 1, 1, "c")};
  REPORTED(upcr_startup_pshalloc(pinfo, 1), "giant");
  CHECK(strstr(told, "WEFT_HEAP_SIZE") != NULL && strchr(told, '\n') == NULL);
}

/* What is allocated next lies where something else has been. */
static void soil_the_heap(void) {
  const upcr_shared_ptr_t soiled = upc_all_alloc((size_t)upc_threads(), 1 << 16);
  upc_memset(on(soiled, upc_mythread()), 0xff, 1 << 16);
  upc_all_free(soiled);
}

WEFT_SUITE(upc_program) {
  const upcr_unit_t* const units[] = {NULL, &upcr_unit_program};
  failures = 0;
  soil_the_heap();
  upcr_begin(units, 2);
  data();
  barriers();
  locks();
  forall();
  other_names();
  names_of_the_library();
  errors();
  barrier();
  upcr_shared_ptr_t* const all[] = {&answer, &cyclic, &table, &text, &blocks};
  for (size_t i = 0; i != sizeof all / sizeof all[0]; ++i) {
    upcr_all_free(*all[i]);
    *all[i] = upcr_null_shared;
    /* Those with values are to have them again in another run. */
    if (all[i] != &cyclic && all[i] != &blocks) all[i]->phase = 1;
  }
  return failures == 0 ? 0 : 1;
}
