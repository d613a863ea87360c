// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "declare.h"
#include "types.h"

/* Shared memory: allocation, shared arrays of C programs, and copies by one thread.
 *
 * A request that the heap has no room for is an error, whose message names WEFT_HEAP_SIZE; the allocation
 * functions never return a null pointer for it. */

#ifdef __cplusplus
namespace weft {
#endif

/* Allocates `shared [nbytes] char[nblocks * nbytes]`: block i has affinity to thread i mod THREADS.
 * Collective, with the same arguments on all threads, which all get the same pointer, to thread 0 with phase
 * 0; it synchronises nothing. nblocks * nbytes = 0 gives a null pointer (UPC 1.3, 7.2.2.2). Errors: no room;
 * a size that overflows; between upc_notify and upc_wait. */
WEFT_EXPORT upc_shared_ptr_t upc_all_alloc(size_t nblocks, size_t nbytes);

/* The same by one thread alone: every call allocates another object (UPC 1.3, 7.2.2.1). Errors: as
 * upc_all_alloc, but it may be called between upc_notify and upc_wait. */
WEFT_EXPORT upc_shared_ptr_t upc_global_alloc(size_t nblocks, size_t nbytes);

/* Allocates `shared [] char[nbytes]` with affinity to the calling thread; 0 gives a null pointer
 * (UPC 1.3, 7.2.2.3). Errors: no room. */
WEFT_EXPORT upc_shared_ptr_t upc_alloc(size_t nbytes);

/* Frees what upc_all_alloc, upc_global_alloc or upc_alloc returned; one thread calls it, any, once. A null
 * pointer is ignored (UPC 1.3, 7.2.2.5). It returns when the thread that keeps the books has answered.
 * Errors: not a pointer into the shared heap, into the middle of a block, or to what is not allocated any
 * more: nothing is freed then. */
WEFT_EXPORT void upc_free(upc_shared_ptr_t ptr);

/* The collective form, with the same pointer on all threads: nothing is freed before all have called it
 * (UPC 1.3, 7.2.2.4). Errors: as upc_free, on all threads; between upc_notify and upc_wait. */
WEFT_EXPORT void upc_all_free(upc_shared_ptr_t ptr);

/* `shared [block_elems] T A[elems]`, for C programs. T has elem_size bytes; with WEFT_PER_THREAD as the last
 * argument A has elems * THREADS elements, with 0 elems. block_elems 0 stands for an indefinite block size.
 * Before weft_init this registers the array: weft_init allocates all in the order of registration, which must
 * be the same on all threads, fills them with zeros and sets *where. After weft_init it is collective and
 * does so at once. `where` must live until weft_finalize, which sets it to null. The array is not freed by
 * hand. Errors: where is null; elem_size or elems is 0; block_elems is more than 2^32 - 1; a size that
 * overflows; no room. */
WEFT_EXPORT void weft_register_shared(upc_shared_ptr_t* where, size_t block_elems, size_t elem_size,
                                      size_t elems, int per_thread);
#define WEFT_PER_THREAD 1

/* The copies move nbytes bytes; each end in shared memory lies on one thread, any thread. They return when
 * the bytes are in place, and nbytes 0 copies nothing. The ends must not overlap. Errors: a null pointer with
 * nbytes > 0; a thread that does not exist; not inside the shared heap; the ends overlap, where the private
 * one may be an address from upc_cast. */

/* Shared to shared (UPC 1.3, 7.2.5.1). */
WEFT_EXPORT void upc_memcpy(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes);
/* Shared to private (UPC 1.3, 7.2.5.2). */
WEFT_EXPORT void upc_memget(void* dst, upc_shared_ptr_t src, size_t nbytes);
/* Private to shared (UPC 1.3, 7.2.5.3). */
WEFT_EXPORT void upc_memput(upc_shared_ptr_t dst, const void* src, size_t nbytes);
/* Sets every byte to (unsigned char)c (UPC 1.3, 7.2.5.4). */
WEFT_EXPORT void upc_memset(upc_shared_ptr_t dst, int c, size_t nbytes);

#ifdef __cplusplus
}
#endif

#if WEFT_GLOBAL_NAMES
using weft::upc_all_alloc;
using weft::upc_all_free;
using weft::upc_alloc;
using weft::upc_free;
using weft::upc_global_alloc;
using weft::upc_memcpy;
using weft::upc_memget;
using weft::upc_memput;
using weft::upc_memset;
using weft::weft_register_shared;
#endif
