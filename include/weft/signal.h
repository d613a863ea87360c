// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "declare.h"
#include "types.h"

#include <stddef.h>
#include <stdint.h>

/* Copies that tell their target: an extension, for exchanges between neighbours without a barrier.
 *
 * A signal is an aligned uint64_t in shared memory, on the thread that waits for it. Its first value is
 * stored before a barrier, or it lies in memory that begins with zeros (weft_register_shared, weft::signals).
 *
 * What is ordered. A thread that sees the new value of a signal by weft_wait_until or weft_test_until sees
 * all bytes of the copy that raised it. Two copies are not ordered, also to one thread: with WEFT_SIGNAL_ADD
 * the signal counts those that are in place. What another thread has to see must be behind a signal to that
 * thread, or a barrier. */

/* What becomes of the signal. */
typedef enum { WEFT_SIGNAL_SET = 0, WEFT_SIGNAL_ADD = 1 } weft_signal_t;
/* What it is compared with: `signal == value` and so on. */
typedef enum {
  WEFT_CMP_EQ = 0,
  WEFT_CMP_NE = 1,
  WEFT_CMP_GT = 2,
  WEFT_CMP_GE = 3,
  WEFT_CMP_LT = 4,
  WEFT_CMP_LE = 5
} weft_cmp_t;

#ifdef __cplusplus
namespace weft {
#endif

/* Copies nbytes bytes of private memory to dst, as upc_memput does, and behind it sets the signal to value,
 * or adds value to it: in one, whoever else does so. nbytes 0: the signal alone, and dst and src are not
 * looked at. Returns UPC_HANDLE_COMPLETE, or a handle for upc_wait and its like: when it is complete src may
 * be changed and the bytes are in place; the signal is on its way then, and needs no further call.
 * Errors: as upc_memput; the signal is null, is not aligned to 8 bytes, is not in the shared heap, is on
 * another thread than dst, or lies in the bytes that are copied; how is neither of the two. */
WEFT_EXPORT WEFT_HANDLE upc_coll_handle_t weft_put_signal(upc_shared_ptr_t dst, const void* src,
                                                          size_t nbytes, upc_shared_ptr_t signal,
                                                          uint64_t value, weft_signal_t how);

/* Returns when the signal, which is the calling thread's own, compares so to value: what it is then. Carries
 * operations like every wait, and returns within microseconds of a signal of weft_put_signal, within
 * milliseconds of a plain store. Errors: the signal is null, not aligned, not in the shared heap, or on
 * another thread; cmp is none of the six; in a function that a collective has called. */
WEFT_EXPORT uint64_t weft_wait_until(upc_shared_ptr_t signal, weft_cmp_t cmp, uint64_t value);
/* 1 if it does, 0 if not; never waits. Errors: as weft_wait_until. */
WEFT_EXPORT int weft_test_until(upc_shared_ptr_t signal, weft_cmp_t cmp, uint64_t value);

#ifdef __cplusplus
}
#endif

#if WEFT_GLOBAL_NAMES
using weft::weft_put_signal;
using weft::weft_test_until;
using weft::weft_wait_until;
#endif
