// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/* What the tests of translated programs need: the interface as such programs include it, checks that go on, a
 * handler that keeps what it is told, and places in the memory of each thread. */
#include "tests/jobs/suite.h"

#include <upcr.h>
#include <upcr_proxy.h>

#define UPCR_SHARED_SIZE_ 16
#define UPCR_PSHARED_SIZE_ 16

static int failures;
static inline void check(int condition, const char* what, int line) {
  if (condition) return;
  if (++failures < 20) fprintf(stderr, "thread %d: line %d: %s\n", MYTHREAD, line, what);
}
#define CHECK(condition) check((condition) != 0, #condition, __LINE__)

static int handled;
static char told[500];
static inline void keep(const char* message, const weft_error_info_t* info) {
  (void)info;
  ++handled;
  snprintf(told, sizeof told, "%s", message);
}
/* Does it under the handler: whether there was one error, which has these words. */
#define REPORTED(does, words)                                                                                \
  do {                                                                                                       \
    const weft_error_handler_t before_ = weft_set_error_handler(keep);                                       \
    handled = 0;                                                                                             \
    told[0] = 0;                                                                                             \
    does;                                                                                                    \
    weft_set_error_handler(before_);                                                                         \
    CHECK(handled == 1);                                                                                     \
    CHECK(strstr(told, words) != NULL);                                                                      \
    if (strstr(told, words) == NULL) fprintf(stderr, "told: %s\n", told);                                    \
  } while (0)

static inline upcr_shared_ptr_t on(upcr_shared_ptr_t p, int thread) {
  p.thread = (uint32_t)thread;
  return p;
}
static inline void barrier(void) {
  upcr_barrier(0, UPCR_BARRIERFLAG_ANONYMOUS);
}
static inline void begin_without_units(void) {
  failures = 0;
  upcr_begin(NULL, 0);
}
