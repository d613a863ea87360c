// SPDX-License-Identifier: BSD-3-Clause
/* The entry points of GUPC and clang-upc: what an object of theirs does, done by hand. Its shared variables
 * are a section at an address of shared memory, of which every thread has a copy. */
#include "tests/upc/check.h"

#undef THREADS
#undef MYTHREAD
extern int THREADS, MYTHREAD, __upc_forall_depth;
__extension__ typedef unsigned __int128 sixteen_bytes;

typedef struct variables_t { /* the section */
  uint32_t counter;
  uint64_t words[4];
  long double real;
  char block[100];
} variables_t;
static variables_t section = {7, {1, 2, 3, 4}, 0, "as it was linked"};

static upc_shared_ptr_t address_of(size_t member, int thread) {
  const upc_shared_ptr_t p = {UPCR_IMAGE_ADDRESS + member, (uint32_t)thread, 0};
  return p;
}
#define VARIABLE(member) address_of(offsetof(variables_t, member), t)

/* The compilers declare these themselves. */
#define DECLARE(mode, of)                                                                                    \
  of __get##mode##2(upc_shared_ptr_t);                                                                       \
  of __gets##mode##2(upc_shared_ptr_t);                                                                      \
  of __getg##mode##3(upc_shared_ptr_t, const char*, int);                                                    \
  of __getsg##mode##3(upc_shared_ptr_t, const char*, int);                                                   \
  void __put##mode##2(upc_shared_ptr_t, of);                                                                 \
  void __puts##mode##2(upc_shared_ptr_t, of);                                                                \
  void __putg##mode##4(upc_shared_ptr_t, of, const char*, int);                                              \
  void __putsg##mode##4(upc_shared_ptr_t, of, const char*, int);
#define ALL_MODES(DO)                                                                                        \
  DO(qi, uint8_t)                                                                                            \
  DO(hi, uint16_t)                                                                                           \
  DO(si, uint32_t)                                                                                           \
  DO(di, uint64_t)                                                                                           \
  DO(ti, sixteen_bytes)                                                                                      \
  DO(sf, float)                                                                                              \
  DO(df, double)                                                                                             \
  DO(tf, long double)                                                                                        \
  DO(xf, long double)
ALL_MODES(DECLARE)
void __getblk3(void*, upc_shared_ptr_t, size_t);
void __getsblk3(void*, upc_shared_ptr_t, size_t);
void __getgblk5(void*, upc_shared_ptr_t, size_t, const char*, int);
void __getsgblk5(void*, upc_shared_ptr_t, size_t, const char*, int);
void __putblk3(upc_shared_ptr_t, const void*, size_t);
void __putsblk3(upc_shared_ptr_t, const void*, size_t);
void __putgblk5(upc_shared_ptr_t, const void*, size_t, const char*, int);
void __putsgblk5(upc_shared_ptr_t, const void*, size_t, const char*, int);
void __copyblk3(upc_shared_ptr_t, upc_shared_ptr_t, size_t);
void __copysblk3(upc_shared_ptr_t, upc_shared_ptr_t, size_t);
void __copygblk5(upc_shared_ptr_t, upc_shared_ptr_t, size_t, const char*, int);
void __copysgblk5(upc_shared_ptr_t, upc_shared_ptr_t, size_t, const char*, int);
void* __getaddr(upc_shared_ptr_t);
void* __cvtaddr(upc_shared_ptr_t);
void* __getaddrg(upc_shared_ptr_t, const char*, int);
void __upc_barrier(int);
void __upc_notify(int);
void __upc_wait(int);
void __upc_barrierg(int, const char*, int);
void __upc_notifyg(int, const char*, int);
void __upc_waitg(int, const char*, int);
void __upc_fence(void);

static int initialized;
static void initialize(void) {
  ++initialized;
  if (MYTHREAD == 0)
    for (int t = 0; t != THREADS; ++t)
      __putdi2(VARIABLE(words[3]), (uint64_t)t + 44);
}

#define MODE(mode, of)                                                                                       \
  for (int t = 0; t != THREADS; ++t) {                                                                       \
    const upc_shared_ptr_t p = {room.addr + (uint64_t)MYTHREAD * 64, (uint32_t)t, 0};                        \
    __put##mode##2(p, (of)(t + 3));                                                                          \
    CHECK(__get##mode##2(p) == (of)(t + 3));                                                                 \
    __puts##mode##2(p, (of)(t + 4));                                                                         \
    CHECK(__gets##mode##2(p) == (of)(t + 4));                                                                \
    __putg##mode##4(p, (of)(t + 5), __FILE__, __LINE__);                                                     \
    CHECK(__getg##mode##3(p, __FILE__, __LINE__) == (of)(t + 5));                                            \
    __putsg##mode##4(p, (of)(t + 6), __FILE__, __LINE__);                                                    \
    CHECK(__getsg##mode##3(p, __FILE__, __LINE__) == (of)(t + 6));                                           \
  }

static void accesses(upc_shared_ptr_t room) {
  ALL_MODES(MODE)
  char from[48], to[48];
  for (int t = 0; t != THREADS; ++t) {
    upc_shared_ptr_t p = {room.addr + (uint64_t)MYTHREAD * 64, (uint32_t)t, 0}, q = on(p, MYTHREAD);
    q.addr += (uint64_t)THREADS * 64;
#define IN_SOURCE , __FILE__, __LINE__
#define BLOCKS(PUT, GET, COPY, PLACE)                                                                        \
  memset(from, 'a' + t + __LINE__ % 20, sizeof from);                                                        \
  PUT(p, from, sizeof from PLACE);                                                                           \
  COPY(q, p, sizeof from PLACE);                                                                             \
  GET(to, q, sizeof to PLACE);                                                                               \
  CHECK(memcmp(from, to, sizeof to) == 0);
    BLOCKS(__putblk3, __getblk3, __copyblk3, )
    BLOCKS(__putsblk3, __getsblk3, __copysblk3, )
    BLOCKS(__putgblk5, __getgblk5, __copygblk5, IN_SOURCE)
    BLOCKS(__putsgblk5, __getsgblk5, __copysgblk5, IN_SOURCE)
  }
}

static void variables(void) {
  for (int t = 0; t != THREADS; ++t) {
    char block[100];
    CHECK(__getsi2(VARIABLE(counter)) == 7 && __getdi2(VARIABLE(words[1])) == 2);
    CHECK(__getdi2(VARIABLE(words[3])) == (uint64_t)t + 44);
    /* A call of the library takes the address of a variable, too. */
    upc_memget(block, VARIABLE(block), sizeof block);
    CHECK(strcmp(block, "as it was linked") == 0);
  }
  const int t = MYTHREAD;
  CHECK(__getaddr(VARIABLE(counter)) == upc_cast(VARIABLE(counter)));
  CHECK(__getaddrg(VARIABLE(counter), __FILE__, __LINE__) == __cvtaddr(VARIABLE(counter)));
  CHECK(__getaddr(upcr_null_shared) == NULL);
  __upc_forall_depth = 0;
}

WEFT_SUITE(upc_compiled) {
  failures = initialized = 0;
  upcr_begin(NULL, 0);
  void (*const functions[])(void) = {initialize, NULL};
  const upcr_image_t image = {UPCR_IMAGE_ADDRESS, sizeof section, &section, functions, 2};
  const upcr_image_t none = {0, 0, NULL, NULL, 0};
  const upcr_image_t low = {8, 8, &section, NULL, 0}, high = {(uintptr_t)1 << 42, 8, &section, NULL, 0};
  CHECK(upc_isnull(upcr_place_image(&none)));
  REPORTED((void)upcr_place_image(&low), "has not begun");
  REPORTED((void)upcr_place_image(&high), "WEFT_HEAP_SIZE");
  const upc_shared_ptr_t block = upcr_place_image(&image);
  CHECK(THREADS == upc_threads() && MYTHREAD == upc_mythread() && initialized == 1);
  const upc_shared_ptr_t room = upc_all_alloc((size_t)THREADS, 2 * 64 * (size_t)THREADS);
  variables();
  accesses(room);
  const int anonymous = -2147483647 - 1;
  __upc_notify(anonymous);
  __upc_wait(3);
  __upc_barrier(4);
  __upc_notifyg(5, __FILE__, __LINE__);
  __upc_waitg(anonymous, __FILE__, __LINE__);
  __upc_barrierg(anonymous, __FILE__, __LINE__);
  __upc_fence();
  weft_barrier();
  upc_all_free(room);
  upc_all_free(block);
  return failures == 0 ? 0 : 1;
}
