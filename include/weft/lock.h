// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "declare.h"
#include "types.h"

/* Locks (UPC 1.3, 7.2.4). One thread at a time holds a lock: the whole process, whichever of its application
 * threads calls. What the holder wrote into shared memory is there for the next one.
 *
 * Where UPC has `upc_lock_t*`, which is a pointer-to-shared, a program here has `upc_lock_t`, a value like
 * every pointer-to-shared: it may be copied, compared, and put into shared memory, and is null if it is
 * UPC_SHARED_NULL, for which there is upc_isnull. Its target is the library's.
 *
 * A lock goes to the thread that has waited longest; but as long as one of the last holder's host waits too,
 * that one goes first, up to four times in a row past the same thread. Every lock has a thread whose engine
 * keeps the queue, upc_threadof: of upc_global_lock_alloc it is the caller, those of upc_all_lock_alloc go
 * round the threads. A thread on its host that finds the lock free takes it, and returns it, by itself.
 *
 * Errors of all that take a lock: a null one; none that there is, or that was freed; the thread that keeps it
 * has died; in a function that a collective has called. */
typedef upc_shared_ptr_t upc_lock_t;

#ifdef __cplusplus
namespace weft {
#endif

/* A new lock, which no thread holds; every call makes another one. Errors: no room in the shared heap of the
 * calling thread. */
WEFT_EXPORT upc_lock_t upc_global_lock_alloc(void);

/* Collective: the same new lock on all threads. Synchronises nothing. Errors: no room in the shared heap of
 * the thread that is to keep it; between upc_notify and upc_wait. */
WEFT_EXPORT upc_lock_t upc_all_lock_alloc(void);

/* Frees a lock, held or not. A thread that waits for it gets an error. A null one is ignored.
 * Errors: it was freed before. */
WEFT_EXPORT void upc_lock_free(upc_lock_t lock);

/* Collective, with the same lock on all threads: it is freed when all have called. A null one is ignored.
 * Errors: as upc_lock_free, on all threads; between upc_notify and upc_wait. */
WEFT_EXPORT void upc_all_lock_free(upc_lock_t lock);

/* Returns when the calling thread holds the lock. Errors: it does already; the lock is freed meanwhile; the
 * thread that holds it has died. */
WEFT_EXPORT void upc_lock(upc_lock_t lock);

/* 1 if the calling thread holds the lock now, 0 if another one does; does not wait. Errors: as upc_lock.
 */
WEFT_EXPORT int upc_lock_attempt(upc_lock_t lock);

/* Returns the lock: the next one may have it. Errors: the calling thread does not hold it; it was freed,
 * which a thread of another host is told with WEFT_CHECK=1 only. */
WEFT_EXPORT void upc_unlock(upc_lock_t lock);

#ifdef __cplusplus
}
#endif

#if WEFT_GLOBAL_NAMES
using weft::upc_all_lock_alloc;
using weft::upc_all_lock_free;
using weft::upc_global_lock_alloc;
using weft::upc_lock;
using weft::upc_lock_attempt;
using weft::upc_lock_free;
using weft::upc_unlock;
#endif
