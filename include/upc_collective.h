// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#ifdef __cplusplus
extern "C++" {
#endif

#include "upc.h"
#include "weft/collective_x.h"
#include "weft/reduction.h"
#include "weft/sort.h"

/* Collectives over all threads or over a team (UPC Collective Operations V1.0, Cray's permute, and the
 * extensions of Extended Collective Operations V0.3). All threads of the team call the same ones in the same
 * order, with the same arguments.
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
 * NAME_team takes a team as its last argument, and so does, in C++, NAME itself. Everything below is then
 * meant within the team: THREADS are its threads, thread i is the one of rank i, and thread 0 the one of rank
 * 0; the part of each thread lies at the same place of its memory. A root is a member.
 *
 * A pointer that must have affinity to thread 0 is treated as if its phase were 0. nbytes may be 0: nothing
 * is copied, but the modes hold.
 *
 * In place, by UPC_IN_PLACE in sync_mode or for src, are
 *   exchange    the matrix of all blocks is transposed where it is
 *   gather_all  thread i's contribution is block i of its own dst
 *   permute     each block is replaced by the one that moves there
 * where src is null or has the target of dst. broadcast, scatter and gather need both pointers: with the flag
 * in sync_mode (never for src) the root's own block may be at exactly the same place of src and dst, and is
 * then not copied.
 *
 * Errors of all: dst or src is null, has the wrong affinity or points outside the shared heap; the areas
 * overlap and are not in place; src is neither null nor dst, though the operation is in place; nbytes *
 * THREADS overflows; two IN or two OUT modes, or an unknown flag; the team is unknown or was freed; the root
 * is no member; between upc_notify and upc_wait; more operations under way than the library has room for. */

#ifdef __cplusplus
namespace weft {
#endif

/* Copies the nbytes bytes at src, on any one thread, to `dst`: shared [nbytes] char[nbytes * THREADS], whose
 * first byte has affinity to thread 0: a copy for each thread, at the same place on each (V1.0, 4.2.1). */
WEFT_EXPORT upc_coll_handle_t upc_all_broadcast(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                upc_flag_t sync_mode);
WEFT_EXPORT upc_coll_handle_t upc_all_broadcast_team(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                     size_t nbytes, upc_flag_t sync_mode, upc_team_t team);

/* Copies the i-th block of nbytes bytes of `src`: shared [] char[nbytes * THREADS], on any one thread, to
 * thread i of `dst`: shared [nbytes] char[nbytes * THREADS], whose first byte has affinity to thread 0
 * (V1.0, 4.2.2). */
WEFT_EXPORT upc_coll_handle_t upc_all_scatter(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                              upc_flag_t sync_mode);
WEFT_EXPORT upc_coll_handle_t upc_all_scatter_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                   upc_flag_t sync_mode, upc_team_t team);

/* Copies the nbytes bytes of thread i in `src`: shared [nbytes] char[nbytes * THREADS], whose first byte has
 * affinity to thread 0, to the i-th block of nbytes bytes of `dst`: shared [] char[nbytes * THREADS], on any
 * one thread (V1.0, 4.2.3). */
WEFT_EXPORT upc_coll_handle_t upc_all_gather(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                             upc_flag_t sync_mode);
WEFT_EXPORT upc_coll_handle_t upc_all_gather_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                  upc_flag_t sync_mode, upc_team_t team);

/* Copies the nbytes bytes of thread i in `src`: shared [nbytes] char[nbytes * THREADS] to the i-th block of
 * nbytes bytes of every thread in `dst`: shared [nbytes * THREADS] char[nbytes * THREADS * THREADS]. Both
 * have affinity to thread 0 (V1.0, 4.2.4). */
WEFT_EXPORT upc_coll_handle_t upc_all_gather_all(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                 upc_flag_t sync_mode);
WEFT_EXPORT upc_coll_handle_t upc_all_gather_all_team(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                      size_t nbytes, upc_flag_t sync_mode, upc_team_t team);

/* Copies the i-th block of nbytes bytes of thread j to the j-th block of thread i. Both dst and src are
 * shared [nbytes * THREADS] char[nbytes * THREADS * THREADS] with affinity to thread 0 (V1.0, 4.2.5). */
WEFT_EXPORT upc_coll_handle_t upc_all_exchange(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                               upc_flag_t sync_mode);
WEFT_EXPORT upc_coll_handle_t upc_all_exchange_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                    upc_flag_t sync_mode, upc_team_t team);

/* Copies the nbytes bytes of thread i in `src` to thread perm[i] in `dst`: both are shared [nbytes]
 * char[nbytes * THREADS], and `perm` is shared const int[THREADS]; all three have affinity to thread 0. perm
 * holds each of 0 to THREADS - 1 once. It is read when the mode allows it: no thread may change it before the
 * operation is left. Further errors: perm is null, misaligned or overlaps dst; and, found by the operation
 * itself, an element that is no thread, or on one node a thread that is no element. Between nodes such a
 * thread may wait for ever (V1.0, 4.2.6; upc_all_permute(3c) of Cray). */
WEFT_EXPORT upc_coll_handle_t upc_all_permute(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                              upc_shared_ptr_t perm, size_t nbytes, upc_flag_t sync_mode);
WEFT_EXPORT upc_coll_handle_t upc_all_permute_team(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                   upc_shared_ptr_t perm, size_t nbytes, upc_flag_t sync_mode,
                                                   upc_team_t team);

/* An extension, collective over parent: makes a team of `count` of its threads, which have the ranks of their
 * places in `threads`, a list of threads of the job that is the same on all. Stores the handle of the new
 * team, which means something on this thread only, in *new_team of its members, and 0 in that of the others.
 * Operations of other teams may be in flight; cray_upc_team_free frees the team. Returns 0, or, on all
 * threads, 1 and a handle of 0 when there is no memory for another team. Errors: parent is unknown or was
 * freed; count is below 1; threads is null or names a thread twice or one that is no member of parent;
 * new_team is null; the lists differ, which all threads find together; between upc_notify and upc_wait. */
WEFT_EXPORT int weft_team_from_threads(upc_team_t parent, int count, const int* threads,
                                       upc_team_t* new_team);

/* An extension, collective over its members alone: makes a team of the threads that have this exchange (see
 * weft_init_with), with their ranks in it, and stores its handle in *new_team. The exchange is used in this
 * call only. Thread 0 of the job, member or not, hands out the memory: with WEFT_PROGRESS=caller not before
 * its next call. Returns 0, or, on all members, 1 and a handle of 0 when there is no memory for another team.
 * Errors: exchange or one of its functions is null; rank is not from 0 to size - 1; new_team is null; a
 * function of the exchange fails, or does not bring each member's value; between upc_notify and upc_wait. */
WEFT_EXPORT int weft_team_with(const weft_exchange_t* exchange, upc_team_t* new_team);

/* Extensions: the thread of the job that has this rank in a team, and the rank in a team of a thread of the
 * job, -1 if it is no member. Neither asks another thread. Errors: the team is unknown or was freed; rank is
 * none of the team; there is no such thread. */
WEFT_EXPORT int weft_team_thread(upc_team_t team, int rank);
WEFT_EXPORT int weft_team_rank_of(upc_team_t team, int thread);

#ifdef __cplusplus
/* The forms with a team, under the names of the texts. */
WEFT_EXPORT upc_coll_handle_t upc_all_broadcast(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                upc_flag_t sync_mode, upc_team_t team);
WEFT_EXPORT upc_coll_handle_t upc_all_scatter(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                              upc_flag_t sync_mode, upc_team_t team);
WEFT_EXPORT upc_coll_handle_t upc_all_gather(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                             upc_flag_t sync_mode, upc_team_t team);
WEFT_EXPORT upc_coll_handle_t upc_all_gather_all(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                 upc_flag_t sync_mode, upc_team_t team);
WEFT_EXPORT upc_coll_handle_t upc_all_exchange(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                               upc_flag_t sync_mode, upc_team_t team);
WEFT_EXPORT upc_coll_handle_t upc_all_permute(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                              upc_shared_ptr_t perm, size_t nbytes, upc_flag_t sync_mode,
                                              upc_team_t team);
} // namespace weft
#endif

#if WEFT_GLOBAL_NAMES
using weft::upc_all_broadcast;
using weft::upc_all_broadcast_team;
using weft::upc_all_exchange;
using weft::upc_all_exchange_team;
using weft::upc_all_gather;
using weft::upc_all_gather_all;
using weft::upc_all_gather_all_team;
using weft::upc_all_gather_team;
using weft::upc_all_permute;
using weft::upc_all_permute_team;
using weft::upc_all_scatter;
using weft::upc_all_scatter_team;
using weft::weft_team_from_threads;
using weft::weft_team_rank_of;
using weft::weft_team_thread;
using weft::weft_team_with;
#endif

#ifdef __cplusplus
} // extern "C++"
#endif
