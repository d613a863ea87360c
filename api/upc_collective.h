#pragma once
#include "upc.h"

/* Collectives over all threads (UPC Collective Operations V1.0, with the extensions of Extended Collective
 * Operations V0.3). All threads call the same ones in the same order, with the same arguments.
 *
 * Without UPC_ASYNC a collective returns when it may be left, with UPC_HANDLE_COMPLETE, which need not be
 * looked at. With UPC_ASYNC it posts the operation, never waits, and returns a handle for upc_wait, upc_test
 * or upc_get_status; the operation then goes on by itself.
 *
 * With `IN` and `OUT` of sync_mode (0 stands for both ALL):
 *   UPC_IN_NOSYNC    data may be read and written as soon as one thread has entered
 *   UPC_IN_MYSYNC    data of a thread is neither read nor written before that thread has entered
 *   UPC_IN_ALLSYNC   no data is read or written before all threads have entered
 *   UPC_OUT_NOSYNC   a thread leaves when all that it did itself is complete; all is, once all have left
 *   UPC_OUT_MYSYNC   a thread leaves when all reads and writes of data with affinity to it are complete
 *   UPC_OUT_ALLSYNC  a thread leaves when all reads and writes are complete
 * An operation is entered by the call. It is left by the return of a blocking call, or by the successful
 * upc_wait or upc_test of an asynchronous one.
 *
 * A pointer that must have affinity to thread 0 is treated as if its phase were 0. nbytes may be 0: nothing
 * is copied, but the modes hold.
 *
 * Errors of all: dst or src is null, has the wrong affinity or points outside the shared heap; the areas
 * overlap; nbytes * THREADS overflows; two IN or two OUT modes, or an unknown flag; between upc_notify and
 * upc_wait; more operations under way than the library has room for. */

#ifdef __cplusplus
namespace weft {
#endif

/* Copies the nbytes bytes at src, on any one thread, to `dst`: shared [nbytes] char[nbytes * THREADS], whose
 * first byte has affinity to thread 0: a copy for each thread, at the same place on each (V1.0, 4.2.1). */
WEFT_EXPORT upc_coll_handle_t upc_all_broadcast(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                upc_flag_t sync_mode);

/* Copies the i-th block of nbytes bytes of `src`: shared [] char[nbytes * THREADS], on any one thread, to
 * thread i of `dst`: shared [nbytes] char[nbytes * THREADS], whose first byte has affinity to thread 0
 * (V1.0, 4.2.2). */
WEFT_EXPORT upc_coll_handle_t upc_all_scatter(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                              upc_flag_t sync_mode);

/* Copies the nbytes bytes of thread i in `src`: shared [nbytes] char[nbytes * THREADS], whose first byte has
 * affinity to thread 0, to the i-th block of nbytes bytes of `dst`: shared [] char[nbytes * THREADS], on any
 * one thread (V1.0, 4.2.3). */
WEFT_EXPORT upc_coll_handle_t upc_all_gather(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                             upc_flag_t sync_mode);

/* Copies the nbytes bytes of thread i in `src`: shared [nbytes] char[nbytes * THREADS] to the i-th block of
 * nbytes bytes of every thread in `dst`: shared [nbytes * THREADS] char[nbytes * THREADS * THREADS]. Both
 * have affinity to thread 0 (V1.0, 4.2.4). */
WEFT_EXPORT upc_coll_handle_t upc_all_gather_all(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                 upc_flag_t sync_mode);

/* Copies the i-th block of nbytes bytes of thread j to the j-th block of thread i. Both dst and src are
 * shared [nbytes * THREADS] char[nbytes * THREADS * THREADS] with affinity to thread 0 (V1.0, 4.2.5). */
WEFT_EXPORT upc_coll_handle_t upc_all_exchange(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                               upc_flag_t sync_mode);

#ifdef __cplusplus
}
#endif

#if WEFT_GLOBAL_NAMES
using weft::upc_all_broadcast;
using weft::upc_all_exchange;
using weft::upc_all_gather;
using weft::upc_all_gather_all;
using weft::upc_all_scatter;
#endif
