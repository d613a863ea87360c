// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "declare.h"
#include "types.h"

#ifdef __cplusplus
#include <type_traits>
#endif

/* The extended relocalization operations (Extended Collective Operations V0.3, 5.3): every block has a place
 * and a size of its own. What upc_collective.h says of teams, modes and UPC_ASYNC holds here too.
 *
 * dst, src, nbytes and perm are arrays in shared memory, and the pointers to them point to their first
 * element, on thread 0:
 *   shared [] char * shared [1] A[THREADS]                  a place for each thread, A[i] on thread i
 *   shared [] char * shared [THREADS] A[THREADS * THREADS]  a row for each thread, row t on thread t
 *   shared [1] size_t nbytes[THREADS]                       and perm, and a row for each thread likewise
 * They are indexed by thread of the job, also where a team calls: elements that belong to a thread outside of
 * the team are ignored. They are data, read under the modes while the operation runs: no thread may change
 * them before it is left. What an element points to has affinity to the thread that the function says. Its
 * phase does not matter. Where the size of a block is 0 nothing is copied, and its pointers may be null.
 *
 * In place: exchange_x, gather_all_x and permute_x with UPC_IN_PLACE, in sync_mode or for src, use dst for
 * src, and src is null or the same array.
 *   exchange_x    the blocks of dst[t * THREADS + i] and dst[i * THREADS + t] change places. They may be of
 *                 unequal sizes, also of none: what lies at dst[t * THREADS + i] has nbytes[t * THREADS + i]
 *                 bytes before and nbytes[i * THREADS + t] afterwards: the place has room for both
 *   gather_all_x  thread i's contribution is what dst[i * THREADS + i] points to, and stays there
 *   permute_x     the nbytes[i] bytes of dst[i] go to dst[perm[i]], where the block of thread perm[i] was, of
 *                 whatever size; cycles lose nothing
 * In the others the flag in sync_mode (never for src) says that the root's own block may be at exactly the
 * same place in both.
 *
 * Errors of all: an array is null, has no affinity to thread 0, no alignment for its elements, or its
 * elements are outside of the memory that all threads have (upc_alloc's is one thread's); src is neither null
 * nor dst, though the operation is in place, or is dst though it is not; two IN or two OUT modes, or an
 * unknown flag; the team is unknown or was freed; between upc_notify and upc_wait; more operations under way
 * than the library has room for. Errors of elements: one points to another thread than it must, to none, or
 * outside of the shared heap; perm is no permutation, see upc_all_permute. They are found while the operation
 * runs, and reported by the call that completes it on a thread that would have carried the block; it is not
 * copied, all others are. */

/* The movements of equal blocks, each between places that every thread says for itself. */
typedef enum {
  WEFT_MOVE_BROADCAST = 0,
  WEFT_MOVE_SCATTER = 1,
  WEFT_MOVE_GATHER = 2,
  WEFT_MOVE_GATHER_ALL = 3,
  WEFT_MOVE_EXCHANGE = 4
} weft_movement_t;

#ifdef __cplusplus
namespace weft {
#endif

/* Copies the nbytes bytes at src, on any one thread of the team, to dst[i] on every thread i. Only dst is an
 * array: a place for each thread. Further errors: src is null and nbytes is not 0, is no member's, or leads
 * outside of the shared heap (V0.3, 5.3.1). */
WEFT_EXPORT upc_coll_handle_t upc_all_broadcast_x(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                  upc_flag_t sync_mode, upc_team_t team);

/* Copies the nbytes[i] bytes at src[i] to dst[i], on thread i. All src[i] that are copied have affinity to
 * the same thread, the root. dst, src and nbytes have an element for each thread (V0.3, 5.3.2). */
WEFT_EXPORT upc_coll_handle_t upc_all_scatter_x(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                upc_shared_ptr_t nbytes, upc_flag_t sync_mode,
                                                upc_team_t team);

/* Copies the nbytes[i] bytes at src[i], on thread i, to dst[i]. All dst[i] that are written have affinity to
 * the same thread, the root. dst, src and nbytes have an element for each thread (V0.3, 5.3.3). */
WEFT_EXPORT upc_coll_handle_t upc_all_gather_x(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                               upc_shared_ptr_t nbytes, upc_flag_t sync_mode,
                                               upc_team_t team);

/* Copies the nbytes[i] bytes at src[i], on thread i, to dst[t * THREADS + i] on every thread t. src and
 * nbytes have an element for each thread, dst has a row for each (V0.3, 5.3.4). */
WEFT_EXPORT upc_coll_handle_t upc_all_gather_all_x(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                   upc_shared_ptr_t nbytes, upc_flag_t sync_mode,
                                                   upc_team_t team);

/* Copies the nbytes[j * THREADS + i] bytes at src[j * THREADS + i], on thread j, to dst[i * THREADS + j], on
 * thread i. dst, src and nbytes have a row for each thread (V0.3, 5.3.5). */
WEFT_EXPORT upc_coll_handle_t upc_all_exchange_x(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                 upc_shared_ptr_t nbytes, upc_flag_t sync_mode,
                                                 upc_team_t team);

/* Copies the nbytes[i] bytes at src[i], on thread i, to dst[perm[i]], on thread perm[i]. All have an element
 * for each thread. perm is of size_t, as the prototype of the text says, and for upc_all_permute_xi of int,
 * as its example does; it holds each thread of the team once (V0.3, 5.3.6). */
WEFT_EXPORT upc_coll_handle_t upc_all_permute_x(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                upc_shared_ptr_t perm, upc_shared_ptr_t nbytes,
                                                upc_flag_t sync_mode, upc_team_t team);
WEFT_EXPORT upc_coll_handle_t upc_all_permute_xi(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                 upc_shared_ptr_t perm, upc_shared_ptr_t nbytes,
                                                 upc_flag_t sync_mode, upc_team_t team);

/* Moves what upc_all_broadcast, scatter, gather, gather_all or exchange move, blocks of nbytes bytes, between
 * places that need not be alike on the threads. dst and src are arrays of pointers as above, of which each
 * thread fills its own part, with pointers to its own memory; parts of threads that give nothing, or get
 * nothing, are not read. Those that give a block to each thread have a row of src, src[t * THREADS + i],
 * those that get one from each a row of dst; the others have one element. A thread's own block may be at one
 * place in both, and is then not copied. root is a rank of the team; where there is none it is 0. Further
 * errors: what is none of them; root is no rank of the team; dst is src. Not in the specification. */
WEFT_EXPORT upc_coll_handle_t weft_all_move_x(weft_movement_t what, upc_shared_ptr_t dst,
                                              upc_shared_ptr_t src, size_t nbytes, int root,
                                              upc_flag_t sync_mode, upc_team_t team);

/* How many bytes a block of weft_all_move_x may have, at most, to lie in ordinary memory: the same on all
 * threads of the team, 0 if they are on one host. An element of src or dst may then be what weft_pointer_to
 * gives, if it is of a block to a thread of another host or from one, or of the thread's own; not under
 * UPC_IN_NOSYNC, and the own one not under UPC_OUT_ALLSYNC. Such a block is sent from where it is, and comes
 * to where it is wanted, without a copy. Errors: the team is unknown or was freed. Not in the specification.
 */
WEFT_EXPORT size_t weft_message_bytes(upc_team_t team);

#ifdef __cplusplus
template <class T, size_t B> class ptr;
template <class T, size_t B> class shared_array;

/* A typed permutation says itself which of the two it is. */
template <class T, size_t B>
upc_coll_handle_t upc_all_permute_x(upc_shared_ptr_t dst, upc_shared_ptr_t src, const ptr<T, B>& perm,
                                    upc_shared_ptr_t nbytes, upc_flag_t sync_mode, upc_team_t team) {
  static_assert(std::is_integral_v<T> && (sizeof(T) == sizeof(size_t) || sizeof(T) == sizeof(int)),
                "perm is of size_t or of int");
  const upc_shared_ptr_t first = perm;
  if constexpr (sizeof(T) == sizeof(int))
    return upc_all_permute_xi(dst, src, first, nbytes, sync_mode, team);
  else
    return upc_all_permute_x(dst, src, first, nbytes, sync_mode, team);
}
template <class T, size_t B>
upc_coll_handle_t upc_all_permute_x(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                    const shared_array<T, B>& perm, upc_shared_ptr_t nbytes,
                                    upc_flag_t sync_mode, upc_team_t team) {
  return upc_all_permute_x(dst, src, perm.begin(), nbytes, sync_mode, team);
}
} // namespace weft
#endif

#if WEFT_GLOBAL_NAMES
using weft::upc_all_broadcast_x;
using weft::upc_all_exchange_x;
using weft::upc_all_gather_all_x;
using weft::upc_all_gather_x;
using weft::upc_all_permute_x;
using weft::upc_all_permute_xi;
using weft::upc_all_scatter_x;
using weft::weft_all_move_x;
using weft::weft_message_bytes;
#endif
