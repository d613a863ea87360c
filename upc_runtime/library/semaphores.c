// SPDX-License-Identifier: BSD-3-Clause
/* Semaphores: two words on the thread that made it, the count and the flags. */
#include "upc_runtime/include/weft/semaphore.h"
#include "upc_runtime/library/internal.h"

#include <sched.h>

static int has_both(int flags, int a, int b) {
  return (flags & a) != 0 && (flags & b) != 0;
}

bupc_sem_t bupc_sem_alloc(int flags) {
  if ((flags & ~BUPC_SEM_MASK) != 0 || has_both(flags, BUPC_SEM_BOOLEAN, BUPC_SEM_INTEGER) ||
      has_both(flags, BUPC_SEM_SPRODUCER, BUPC_SEM_MPRODUCER) ||
      has_both(flags, BUPC_SEM_SCONSUMER, BUPC_SEM_MCONSUMER)) {
    upcri_fail("bupc_sem_alloc", "flags", "are unknown, or two of a pair: give one of each pair at most",
               "0x%x", (unsigned)flags);
    return upcr_null_shared;
  }
  const bupc_sem_t s = upc_alloc(2 * sizeof(uint64_t));
  if (upc_isnull(s)) return s;
  uint64_t* const words = upc_cast(s);
  words[0] = 0;
  words[1] = (uint64_t)flags;
  weft_fence();
  return s;
}

void bupc_sem_free(bupc_sem_t s) {
  upc_free(s);
}

static int is_boolean(bupc_sem_t s) {
  return (upcri_get_val(s, sizeof(uint64_t), sizeof(uint64_t), upcri_here) & BUPC_SEM_BOOLEAN) != 0;
}

/* Whether the call may go on. */
static int check_semaphore(const char* call, bupc_sem_t s, size_t n) {
  if (upc_isnull(s)) {
    upcri_fail(call, "s", "is no semaphore: make one by bupc_sem_alloc", "%s", "null");
    return 0;
  }
  const size_t most = is_boolean(s) ? 1 : BUPC_SEM_MAXVALUE;
  if (n >= 1 && n <= most) return 1;
  upcri_fail(call, "n", most == 1 ? "must be 1 for a boolean semaphore" : "must be from 1 to 65535", "%zu",
             n);
  return 0;
}

static void post(const char* call, bupc_sem_t s, size_t n) {
  if (!check_semaphore(call, s, n)) return;
  const uint64_t more = n;
  upc_atomic_strict(upcri_counting, NULL, is_boolean(s) ? UPC_SET : UPC_ADD, s, &more, NULL);
}

/* A read first: who waits does not take the line from who posts. */
static int take(bupc_sem_t s, uint64_t n) {
  uint64_t there = upcri_get_val(s, 0, sizeof there, upcri_here);
  while (there >= n) {
    const uint64_t rest = there - n;
    uint64_t before = 0;
    upc_atomic_strict(upcri_counting, &before, UPC_CSWAP, s, &there, &rest);
    if (before == there) return 1;
    there = before;
  }
  return 0;
}

static void wait_for(const char* call, bupc_sem_t s, size_t n) {
  if (!check_semaphore(call, s, n)) return;
  for (int looks = 0; !take(s, n); ++looks) {
    weft_poll();
    if (looks > 200) sched_yield();
  }
}

void bupc_sem_post(bupc_sem_t s) {
  post("bupc_sem_post", s, 1);
}
void bupc_sem_postN(bupc_sem_t s, size_t n) {
  post("bupc_sem_postN", s, n);
}
void bupc_sem_wait(bupc_sem_t s) {
  wait_for("bupc_sem_wait", s, 1);
}
void bupc_sem_waitN(bupc_sem_t s, size_t n) {
  wait_for("bupc_sem_waitN", s, n);
}
int bupc_sem_tryN(bupc_sem_t s, size_t n) {
  if (!check_semaphore("bupc_sem_tryN", s, n)) return 0;
  weft_poll();
  return take(s, n);
}
int bupc_sem_try(bupc_sem_t s) {
  return bupc_sem_tryN(s, 1);
}

void bupc_memput_signal(upc_shared_ptr_t dst, const void* src, size_t nbytes, bupc_sem_t s, size_t n) {
  if (!check_semaphore("bupc_memput_signal", s, n)) return;
  upc_memput(dst, src, nbytes);
  post("bupc_memput_signal", s, n);
}
void bupc_memput_signal_async(upc_shared_ptr_t dst, const void* src, size_t nbytes, bupc_sem_t s, size_t n) {
  bupc_memput_signal(dst, src, nbytes, s, n);
}
