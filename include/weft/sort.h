// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "declare.h"
#include "types.h"

/* The sort of a distributed array, over all threads or over a team. For the flags of sync_mode, handles and
 * teams see upc_collective.h. */

#ifdef __cplusplus
namespace weft {
#endif

/* Sorts the nelems elements of elem_size bytes at `A`, in place (V1.0, 4.3.4). A is treated as
 * `shared [blk_size] char[nelems][elem_size]`, blk_size, in elements, 0 as an indefinite block size: its
 * phase and its thread count. The order is that of the indices, and is ascending by func, which is called
 * with pointers to two elements and returns less than, equal to or more than 0 as the first one comes before
 * the second, may stand on either side of it, or comes behind it. Elements that compare equal keep their
 * order.
 *
 * func may be called on every thread that takes part, and by the thread that moves an asynchronous operation
 * on. It may read through its pointers, by upc_cast or upc_memget, which lead to this thread's memory, to A
 * or to a copy of the element, as long as func runs; it must not write through them. Whatever would wait for
 * other threads is an error there. Whatever func answers, the call ends, and A has the elements that it had;
 * but if func throws (in C++), which fails the operation on all threads, its content is undefined.
 *
 * A thread needs memory for twice the elements that it has, and for about nelems/16 more of elements of 128
 * bytes, nelems/4 of 512. Elements of more than 2 KiB are merged by one thread. With a team, too, the
 * elements lie on the threads of the job, which must be members then. nelems may be 0: the modes hold.
 *
 * Errors: A or func is null; A leads outside the shared heap; its phase is not below blk_size; blk_size or
 * elem_size is above 2^32 - 1; elem_size is 0; nelems elements are more than there can be; an element lies on
 * a thread that is no member of the team; UPC_IN_PLACE or another flag that this call does not have; two IN
 * or two OUT modes; the team is unknown or was freed; between upc_notify and upc_wait; in a function that a
 * collective has called; more operations under way than the library has room for. */
WEFT_EXPORT upc_coll_handle_t upc_all_sort(upc_shared_ptr_t A, size_t elem_size, size_t nelems,
                                           size_t blk_size, int (*func)(upc_shared_ptr_t, upc_shared_ptr_t),
                                           upc_flag_t sync_mode);
WEFT_EXPORT upc_coll_handle_t upc_all_sort_team(upc_shared_ptr_t A, size_t elem_size, size_t nelems,
                                                size_t blk_size,
                                                int (*func)(upc_shared_ptr_t, upc_shared_ptr_t),
                                                upc_flag_t sync_mode, upc_team_t team);

#ifdef __cplusplus
WEFT_EXPORT upc_coll_handle_t upc_all_sort(upc_shared_ptr_t A, size_t elem_size, size_t nelems,
                                           size_t blk_size, int (*func)(upc_shared_ptr_t, upc_shared_ptr_t),
                                           upc_flag_t sync_mode, upc_team_t team);
} // namespace weft
#endif

#if WEFT_GLOBAL_NAMES
using weft::upc_all_sort;
using weft::upc_all_sort_team;
#endif
