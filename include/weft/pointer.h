// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "declare.h"
#include "types.h"

/* Pointers-to-shared: what they consist of, and their arithmetic. `block_elems` is the block size of the type
 * pointed to, in elements; 0 stands for an indefinite block size: all elements on one thread. */

/* The thread that the target has affinity to (UPC 1.3, 7.2.3.1). The null pointer gives 0. */
WEFT_INLINE size_t upc_threadof(upc_shared_ptr_t p) {
  return p.thread;
}

/* The phase: elements from the beginning of the block (UPC 1.3, 7.2.3.2). */
WEFT_INLINE size_t upc_phaseof(upc_shared_ptr_t p) {
  return p.phase;
}

/* The address within the shared segment of the target's thread, in bytes (UPC 1.3, 7.2.3.4). */
WEFT_INLINE size_t upc_addrfield(upc_shared_ptr_t p) {
  return p.addr;
}

/* The same target with phase 0 (UPC 1.3, 7.2.3.3). */
WEFT_INLINE upc_shared_ptr_t upc_resetphase(upc_shared_ptr_t p) {
  p.phase = 0;
  return p;
}

/* Non-zero for the null pointer. */
WEFT_INLINE int upc_isnull(upc_shared_ptr_t p) {
  return p.addr == 0 && p.thread == 0 && p.phase == 0;
}

/* Non-zero if both have the same target; the phases do not count (UPC 1.3, 6.4.2). */
WEFT_INLINE int upc_ptreq(upc_shared_ptr_t a, upc_shared_ptr_t b) {
  return a.addr == b.addr && a.thread == b.thread;
}

#ifdef __cplusplus
namespace weft {
#endif

/* `p + inc` as the language computes it: first the phase moves, then the thread, then the address
 * (UPC 1.3, 6.4.2). `inc` are elements of elem_size bytes and may be negative.
 * Errors: elem_size 0; block_elems more than 2^32 - 1, which is all that a phase counts; an address that does
 * not fit into 64 bits; before weft_init if block_elems is not 0. */
WEFT_EXPORT upc_shared_ptr_t upc_ptradd(upc_shared_ptr_t p, size_t block_elems, size_t elem_size,
                                        ptrdiff_t inc);

/* `a - b` in elements: upc_ptradd(b, block_elems, elem_size, upc_ptrdiff(a, b, ...)) is a. Both point into
 * one array of that block and element size. Errors: as upc_ptradd. */
WEFT_EXPORT ptrdiff_t upc_ptrdiff(upc_shared_ptr_t a, upc_shared_ptr_t b, size_t block_elems,
                                  size_t elem_size);

/* -1, 0 or 1: whether a comes before, is equal to, or comes after b in the array that both point into.
 * Errors: as upc_ptradd. */
WEFT_EXPORT int upc_ptrcmp(upc_shared_ptr_t a, upc_shared_ptr_t b, size_t block_elems, size_t elem_size);

/* The bytes with affinity to thread `threadid` of a shared object of `totalsize` bytes in blocks of `nbytes`
 * bytes; nbytes 0 stands for an indefinite block size (UPC 1.3, 7.2.3.5). Errors: threadid is no thread. */
WEFT_EXPORT size_t upc_affinitysize(size_t totalsize, size_t nbytes, size_t threadid);

#ifdef __cplusplus
}
#endif

#if WEFT_GLOBAL_NAMES
using weft::upc_affinitysize;
using weft::upc_ptradd;
using weft::upc_ptrcmp;
using weft::upc_ptrdiff;
#endif
