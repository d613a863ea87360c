// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "accesses.h"

#include <stdlib.h>
#include <upc_atomic.h>

/* The library of UPC as translated text calls it whose translator had the headers of Berkeley UPC: under
 * names of its own, with the constants of UPC 1.3, which are Weft's. */
#define bupc_all_broadcast upc_all_broadcast
#define bupc_all_scatter upc_all_scatter
#define bupc_all_gather upc_all_gather
#define bupc_all_gather_all upc_all_gather_all
#define bupc_all_exchange upc_all_exchange
#define bupc_all_permute upc_all_permute
#define bupc_all_reduceC upc_all_reduceC
#define bupc_all_reduceUC upc_all_reduceUC
#define bupc_all_reduceS upc_all_reduceS
#define bupc_all_reduceUS upc_all_reduceUS
#define bupc_all_reduceI upc_all_reduceI
#define bupc_all_reduceUI upc_all_reduceUI
#define bupc_all_reduceL upc_all_reduceL
#define bupc_all_reduceUL upc_all_reduceUL
#define bupc_all_reduceF upc_all_reduceF
#define bupc_all_reduceD upc_all_reduceD
#define bupc_all_reduceLD upc_all_reduceLD
#define bupc_all_prefix_reduceC upc_all_prefix_reduceC
#define bupc_all_prefix_reduceUC upc_all_prefix_reduceUC
#define bupc_all_prefix_reduceS upc_all_prefix_reduceS
#define bupc_all_prefix_reduceUS upc_all_prefix_reduceUS
#define bupc_all_prefix_reduceI upc_all_prefix_reduceI
#define bupc_all_prefix_reduceUI upc_all_prefix_reduceUI
#define bupc_all_prefix_reduceL upc_all_prefix_reduceL
#define bupc_all_prefix_reduceUL upc_all_prefix_reduceUL
#define bupc_all_prefix_reduceF upc_all_prefix_reduceF
#define bupc_all_prefix_reduceD upc_all_prefix_reduceD
#define bupc_all_prefix_reduceLD upc_all_prefix_reduceLD
#define bupc_all_fopen upc_all_fopen
#define bupc_all_fclose upc_all_fclose
#define bupc_all_fsync upc_all_fsync
#define bupc_all_fseek upc_all_fseek
#define bupc_all_fset_size upc_all_fset_size
#define bupc_all_fget_size upc_all_fget_size
#define bupc_all_fpreallocate upc_all_fpreallocate
#define bupc_all_fcntl upc_all_fcntl
#define bupc_all_fread_local upc_all_fread_local
#define bupc_all_fread_shared upc_all_fread_shared
#define bupc_all_fwrite_local upc_all_fwrite_local
#define bupc_all_fwrite_shared upc_all_fwrite_shared
#define bupc_all_fread_list_local upc_all_fread_list_local
#define bupc_all_fread_list_shared upc_all_fread_list_shared
#define bupc_all_fwrite_list_local upc_all_fwrite_list_local
#define bupc_all_fwrite_list_shared upc_all_fwrite_list_shared
#define bupc_all_fread_local_async upc_all_fread_local_async
#define bupc_all_fread_shared_async upc_all_fread_shared_async
#define bupc_all_fwrite_local_async upc_all_fwrite_local_async
#define bupc_all_fwrite_shared_async upc_all_fwrite_shared_async
#define bupc_all_fread_list_local_async upc_all_fread_list_local_async
#define bupc_all_fread_list_shared_async upc_all_fread_list_shared_async
#define bupc_all_fwrite_list_local_async upc_all_fwrite_list_local_async
#define bupc_all_fwrite_list_shared_async upc_all_fwrite_list_shared_async
#define bupc_all_fwait_async upc_all_fwait_async
#define bupc_all_ftest_async upc_all_ftest_async

/* Berkeley's own names for what UPC 1.3 has meanwhile. */
#define bupc_handle_t upcr_handle_t
#define BUPC_COMPLETE_HANDLE UPC_COMPLETE_HANDLE
#define bupc_memcpy_async upcr_nb_memcpy
#define bupc_memget_async upcr_nb_memget
#define bupc_memput_async upcr_nb_memput
#define bupc_memset_async upcr_nb_memset
#define bupc_memcpy_asynci upcr_nbi_memcpy
#define bupc_memget_asynci upcr_nbi_memget
#define bupc_memput_asynci upcr_nbi_memput
#define bupc_memset_asynci upcr_nbi_memset
#define bupc_waitsync upcr_wait_syncnb
#define bupc_trysync upcr_try_syncnb
#define bupc_waitsync_all upcr_wait_syncnb_all
#define bupc_trysync_all upcr_try_syncnb_all
#define bupc_waitsync_some upcr_wait_syncnb_some
#define bupc_trysync_some upcr_try_syncnb_some
#define bupc_waitsynci upcr_wait_syncnbi_all
#define bupc_trysynci upcr_try_syncnbi_all
#define bupc_begin_accessregion upcr_begin_nbi_accessregion
#define bupc_end_accessregion upcr_end_nbi_accessregion
#define bupc_poll upcr_poll
#define bupc_cast upc_cast
#define _bupc_cast upc_cast
#define bupc_ptradd upc_ptradd
#define _bupc_ptradd upc_ptradd
#define _bupc_local_to_shared bupc_local_to_shared
#define _bupc_inverse_cast bupc_inverse_cast
#define BUPC_TICK_MAX UINT64_MAX
#define BUPC_TICK_MIN 0
#define bupc_tick_t upc_tick_t
#define bupc_ticks_now upc_ticks_now
#define bupc_ticks_to_ns upc_ticks_to_ns
#define bupc_ticks_to_us(ticks) (upc_ticks_to_ns(ticks) / 1000)
#define bupc_tick_granularityus() 1e-3
#define bupc_tick_overheadus() 0.02

/* Not zero if the calling thread reaches it by loads and stores, or it is null; if it so reaches all that the
 * thread has. */
UPCR_INLINE int _bupc_castable(upcr_shared_ptr_t p) {
  return upcr_isnull_shared(p) || upc_cast(p) != NULL;
}
UPCR_INLINE int _bupc_thread_castable(unsigned thread) {
  return thread < upcr_job.threads && upcr_job.heaps[thread] != NULL;
}
#define bupc_castable _bupc_castable
#define bupc_thread_castable _bupc_thread_castable

/* How far two threads are apart, the same whichever thread asks: one, on one host, on two. Errors: no such
 * thread. */
#define BUPC_THREADS_SAME 0
#define BUPC_THREADS_VERYNEAR 100
#define BUPC_THREADS_NEAR 200
#define BUPC_THREADS_FAR 300
#define BUPC_THREADS_VERYFAR 400
WEFT_EXPORT unsigned bupc_thread_distance(int a, int b);

/* Writes what the pointer consists of, in `size` bytes, of which there must be BUPC_DUMP_MIN_LENGTH: 0. Else
 * -1, with EINVAL. */
#define BUPC_DUMP_MIN_LENGTH 100
WEFT_EXPORT int _bupc_dump_shared(upcr_shared_ptr_t p, char* text, int size);
#define bupc_dump_shared _bupc_dump_shared

/* The environment is that of the thread's process. Berkeley's traces are not written: WEFT_TRACE writes one.
 */
UPCR_INLINE char* bupc_getenv(const char* name) {
  return getenv(name);
}
#define bupc_trace_setmask(mask) ((void)(mask))
#define bupc_stats_setmask(mask) ((void)(mask))
#define bupc_trace_getmask() ""
#define bupc_stats_getmask() ""
#define bupc_trace_gettracelocal() 0
#define bupc_trace_settracelocal(on) ((void)(on))

/* Atomic operations, of Berkeley UPC: bupc_atomicI64_fetchadd_strict(p, v), and read, set, swap, cswap,
 * mswap, fetchnot, fetchand, fetchor, fetchxor, relaxed and strict, of U64, I64, U32, I32, UI, I, UL, L. All
 * but set return what was there before. mswap replaces the bits that the mask has. Errors: as
 * upc_atomic_relaxed. */
WEFT_EXPORT uint64_t upcri_update(size_t nbytes, upc_op_t op, upcr_shared_ptr_t target, uint64_t a,
                                  uint64_t b, int strict);
WEFT_EXPORT uint64_t upcri_replace(size_t nbytes, upcr_shared_ptr_t target, uint64_t mask, uint64_t value,
                                   int strict);
#define UPCRI_FETCH(letters, type, name, op, order, is_strict)                                               \
  UPCR_INLINE type bupc_atomic##letters##_##name##_##order(upcr_shared_ptr_t p, type v) {                    \
    return (type)upcri_update(sizeof(type), op, p, (uint64_t)v, 0, is_strict);                               \
  }
#define UPCRI_ATOMICS(letters, type, order, is_strict)                                                       \
  UPCR_INLINE type bupc_atomic##letters##_read_##order(upcr_shared_ptr_t p) {                                \
    return (type)upcri_update(sizeof(type), UPC_GET, p, 0, 0, is_strict);                                    \
  }                                                                                                          \
  UPCR_INLINE void bupc_atomic##letters##_set_##order(upcr_shared_ptr_t p, type v) {                         \
    (void)upcri_update(sizeof(type), UPC_SET, p, (uint64_t)v, 0, is_strict);                                 \
  }                                                                                                          \
  UPCR_INLINE type bupc_atomic##letters##_cswap_##order(upcr_shared_ptr_t p, type expected, type v) {        \
    return (type)upcri_update(sizeof(type), UPC_CSWAP, p, (uint64_t)expected, (uint64_t)v, is_strict);       \
  }                                                                                                          \
  UPCR_INLINE type bupc_atomic##letters##_mswap_##order(upcr_shared_ptr_t p, type mask, type v) {            \
    return (type)upcri_replace(sizeof(type), p, (uint64_t)mask, (uint64_t)v, is_strict);                     \
  }                                                                                                          \
  UPCR_INLINE type bupc_atomic##letters##_fetchnot_##order(upcr_shared_ptr_t p) {                            \
    return (type)upcri_update(sizeof(type), UPC_XOR, p, UINT64_MAX, 0, is_strict);                           \
  }                                                                                                          \
  UPCRI_FETCH(letters, type, swap, UPC_SET, order, is_strict)                                                \
  UPCRI_FETCH(letters, type, fetchadd, UPC_ADD, order, is_strict)                                            \
  UPCRI_FETCH(letters, type, fetchand, UPC_AND, order, is_strict)                                            \
  UPCRI_FETCH(letters, type, fetchor, UPC_OR, order, is_strict)                                              \
  UPCRI_FETCH(letters, type, fetchxor, UPC_XOR, order, is_strict)
#define UPCRI_ATOMIC_TYPE(letters, type)                                                                     \
  UPCRI_ATOMICS(letters, type, relaxed, 0)                                                                   \
  UPCRI_ATOMICS(letters, type, strict, 1)
UPCRI_ATOMIC_TYPE(U64, uint64_t)
UPCRI_ATOMIC_TYPE(I64, int64_t)
UPCRI_ATOMIC_TYPE(U32, uint32_t)
UPCRI_ATOMIC_TYPE(I32, int32_t)
UPCRI_ATOMIC_TYPE(UI, unsigned int)
UPCRI_ATOMIC_TYPE(I, int)
UPCRI_ATOMIC_TYPE(UL, unsigned long)
UPCRI_ATOMIC_TYPE(L, long)
