// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#ifdef __cplusplus
extern "C++" {
#endif

#include "upc.h"
#include "upc_types.h"

/* Collective operations that one thread calls (One-sided Collective Operations in UPC, V0.2).
 *
 * The caller need be neither root nor destination; the other threads call nothing, and may compute. Several
 * threads may call different ones at once. When a call returns, or its handle is complete, the caller may
 * write to the source and sees the results; all others see them after the next barrier. Until then no other
 * call may write to, nor read what is written in, the areas of this one (V0.2, 2); WEFT_CHECK=1 reports those
 * that do at the barrier.
 *
 * Subsets. Where a subset of the threads takes part (V0.2, 4), T below is their number, and block k is that
 * of the k-th of them, on its own thread. The caller and the thread of a pointer with one affinity ("the
 * root") need not be among them.
 *
 * flags: 0, or UPC_ASYNC: the call returns a handle at once, which the completion family of the collectives
 * completes (upc_wait, upc_test, ...). Without it what is returned is UPC_HANDLE_COMPLETE.
 *
 * Blocks. An operand that has a block on each thread is passed as the pointer to that of the first of them,
 * and lies at the same offset on all: memory of upc_all_alloc, upc_global_alloc or a shared array. The one
 * with all blocks on the root's thread may also be memory of upc_alloc. nbytes is the size of a block; 0
 * copies nothing. dst and src must not overlap, except that they may be equal: the operation is in place
 * then, and the pointer's thread is the root (V0.2, 5.1).
 *
 * Errors: a null pointer with nbytes > 0; a thread that does not exist; a pointer that must have affinity to
 * the first thread and has not; not inside the shared heap, or not symmetric; an overlap; a size that
 * overflows; unknown flags; an unknown or freed team; no threads, or one twice in a list. */

#ifdef __cplusplus
namespace weft {
#endif

/* src: nbytes on the root. dst: a block on each thread. In place the root's own block stays (V0.2, 5.1). */
WEFT_EXPORT void upc_broadcast(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes);
/* src: T blocks on the root. dst: a block on each thread; block k goes to thread k. In place the root's own
 * block goes to the place of the first one, once that has gone (V0.2, 5.1 and 2, footnote 3). */
WEFT_EXPORT void upc_scatter(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes);
/* src: a block on each thread. dst: T blocks on the root. In place the root's own block goes from the place
 * of the first one to its own (V0.2, 5.1). */
WEFT_EXPORT void upc_gather(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes);
/* src and dst: T blocks on each thread; block j of thread i becomes block i of thread j (V0.2, 5.1). */
WEFT_EXPORT void upc_exchange(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes);
/* src: a block on each thread. dst: T blocks on each: what all threads' upc_gather would give (V0.2, 2). Not
 * in place. */
WEFT_EXPORT void upc_gather_all(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes);

/* upc_broadcast(A, A, nbytes) (V0.2, footnote 1). C++ has it as upc_broadcast(A, nbytes). */
WEFT_EXPORT void upc_broadcast_in_place(upc_shared_ptr_t both, size_t nbytes);

/* With flags, among the threads of a team in the order of their ranks: UPC_TEAM_ALL, or one that the caller
 * is a member of. */
WEFT_EXPORT upc_coll_handle_t upc_broadcast_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                 upc_flag_t flags, upc_team_t team);
WEFT_EXPORT upc_coll_handle_t upc_scatter_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                               upc_flag_t flags, upc_team_t team);
WEFT_EXPORT upc_coll_handle_t upc_gather_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                              upc_flag_t flags, upc_team_t team);
WEFT_EXPORT upc_coll_handle_t upc_exchange_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                upc_flag_t flags, upc_team_t team);
WEFT_EXPORT upc_coll_handle_t upc_gather_all_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                  upc_flag_t flags, upc_team_t team);

/* With flags, among `count` threads in the order of their list. */
WEFT_EXPORT upc_coll_handle_t upc_broadcast_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                    upc_flag_t flags, const int* threads, size_t count);
WEFT_EXPORT upc_coll_handle_t upc_scatter_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                  upc_flag_t flags, const int* threads, size_t count);
WEFT_EXPORT upc_coll_handle_t upc_gather_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                 upc_flag_t flags, const int* threads, size_t count);
WEFT_EXPORT upc_coll_handle_t upc_exchange_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                   upc_flag_t flags, const int* threads, size_t count);
WEFT_EXPORT upc_coll_handle_t upc_gather_all_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                     size_t nbytes, upc_flag_t flags, const int* threads,
                                                     size_t count);

/* Reductions. src: `shared [blk_size] TYPE A[nelems]` over the threads that take part, from the element that
 * it points to, in its phase (with blk_size 0 all on its thread); its thread must be one of them. The forms
 * without nelems and blk_size take one element of each thread, blk_size 1. type is the elements', op an
 * operator of the library: no function of the caller's, which the other threads could not call. Other errors:
 * no type; no operator, or not defined for the type; memory that is not aligned for the type; a phase that is
 * not below blk_size. */

/* dst: one element, on any thread, which may be in src. nelems 0 writes nothing (V0.2, 5.2). */
WEFT_EXPORT void upc_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type, upc_op_t op);
/* dst: an array of as many elements and the same blk_size, in any phase, from any thread; element i becomes
 * that of the elements 0 to i of src. In place dst is src (V0.2, 5.2). */
WEFT_EXPORT void upc_prefix_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type, upc_op_t op);
/* The same of the elements before i; element 0 keeps what it has (V0.2, 3 and 5.2). */
WEFT_EXPORT void upc_xprefix_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type, upc_op_t op);

WEFT_EXPORT upc_coll_handle_t upc_reduce_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type,
                                              upc_op_t op, size_t nelems, size_t blk_size, upc_flag_t flags,
                                              upc_team_t team);
WEFT_EXPORT upc_coll_handle_t upc_prefix_reduce_team(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                     upc_type_t type, upc_op_t op, size_t nelems,
                                                     size_t blk_size, upc_flag_t flags, upc_team_t team);
WEFT_EXPORT upc_coll_handle_t upc_xprefix_reduce_team(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                      upc_type_t type, upc_op_t op, size_t nelems,
                                                      size_t blk_size, upc_flag_t flags, upc_team_t team);

WEFT_EXPORT upc_coll_handle_t upc_reduce_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type,
                                                 upc_op_t op, size_t nelems, size_t blk_size,
                                                 upc_flag_t flags, const int* threads, size_t count);
WEFT_EXPORT upc_coll_handle_t upc_prefix_reduce_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                        upc_type_t type, upc_op_t op, size_t nelems,
                                                        size_t blk_size, upc_flag_t flags, const int* threads,
                                                        size_t count);
WEFT_EXPORT upc_coll_handle_t upc_xprefix_reduce_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                         upc_type_t type, upc_op_t op, size_t nelems,
                                                         size_t blk_size, upc_flag_t flags,
                                                         const int* threads, size_t count);

#ifdef __cplusplus
}
#endif

#if WEFT_GLOBAL_NAMES
using weft::upc_broadcast;
using weft::upc_broadcast_in_place;
using weft::upc_broadcast_team;
using weft::upc_broadcast_threads;
using weft::upc_exchange;
using weft::upc_exchange_team;
using weft::upc_exchange_threads;
using weft::upc_gather;
using weft::upc_gather_all;
using weft::upc_gather_all_team;
using weft::upc_gather_all_threads;
using weft::upc_gather_team;
using weft::upc_gather_threads;
using weft::upc_prefix_reduce;
using weft::upc_prefix_reduce_team;
using weft::upc_prefix_reduce_threads;
using weft::upc_reduce;
using weft::upc_reduce_team;
using weft::upc_reduce_threads;
using weft::upc_scatter;
using weft::upc_scatter_team;
using weft::upc_scatter_threads;
using weft::upc_xprefix_reduce;
using weft::upc_xprefix_reduce_team;
using weft::upc_xprefix_reduce_threads;
#endif

#ifdef __cplusplus
} // extern "C++"
#endif
