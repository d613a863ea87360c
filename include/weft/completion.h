// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "declare.h"
#include "types.h"

#include <stdint.h>

/* The completion of any, all or some of several asynchronous operations.
 *
 * `handles` has `count` elements, 0 or more. UPC_HANDLE_COMPLETE is an inactive handle. Any other one is
 * active until a call has reported it and has set it to UPC_HANDLE_COMPLETE, also if its operation was
 * completed long ago through a copy of the handle. Any thread of the process may complete any handle, and two
 * threads may wait for copies of one; an array is for one call at a time. An operation is left by the call
 * that reports its handle: what its OUT mode promises holds from then on.
 *
 * Errors of all: count is negative; handles is null; handles[i] was never issued, where i is the index of one
 * that the call had to look at, and no handle was changed; what the operation of handles[i] failed with:
 * handles[i] is then UPC_HANDLE_COMPLETE, and all other handles are as they were. */

#ifdef __cplusplus
namespace weft {
#endif

/* Returns when the operation of one active handle is complete: the index of that handle, which is now
 * UPC_HANDLE_COMPLETE; -2 at once if no handle is active (V0.3, 5.4.3). Of several that are complete it takes
 * turns: none waits for ever. */
WEFT_EXPORT int upc_waitany(int count, upc_coll_handle_t* handles);

/* The same for so many nanoseconds at most: -1 if no operation is complete by then; a wait that sleeps looks
 * at the clock every millisecond. Like every wait, it carries what others of its host have posted. The
 * handles may be copies, of which each thread has its own: checked mode counts no second completion of such a
 * one. */
WEFT_EXPORT int weft_waitany_for(int count, upc_coll_handle_t* handles, uint64_t nanoseconds);

/* The same without waiting: -1 if no operation is complete (V0.3, 5.4.4). */
WEFT_EXPORT int upc_testany(int count, upc_coll_handle_t* handles);

/* Returns when all operations are complete. All handles are now UPC_HANDLE_COMPLETE (V0.3, 5.4.5). */
WEFT_EXPORT void upc_waitall(int count, upc_coll_handle_t* handles);

/* A positive number if all operations are complete, as they are if there are none: all handles are now
 * UPC_HANDLE_COMPLETE. Otherwise a negative number, and no handle has changed (V0.3, 5.4.6). */
WEFT_EXPORT int upc_testall(int count, upc_coll_handle_t* handles);

/* Returns when the operation of at least one active handle is complete: the number of those that are. They
 * are now UPC_HANDLE_COMPLETE. 0 at once if no handle is active (V0.3, 5.4.7). */
WEFT_EXPORT int upc_waitsome(int count, upc_coll_handle_t* handles);

/* The same without waiting: 0 also if no operation is complete (V0.3, 5.4.8). */
WEFT_EXPORT int upc_testsome(int count, upc_coll_handle_t* handles);

/* upc_waitsome and upc_testsome that say which: the indices of the handles that were completed, in rising
 * order, are in the first elements of `indices`, which has room for `count`. Error: indices is null. */
WEFT_EXPORT int weft_waitsome_indices(int count, upc_coll_handle_t* handles, int* indices);
WEFT_EXPORT int weft_testsome_indices(int count, upc_coll_handle_t* handles, int* indices);

/* Carries on what is outstanding, as a wait does, and returns: an extension, for loops that wait for what
 * another thread stores. It completes no handle. No errors. */
WEFT_EXPORT void weft_poll(void);

#ifdef __cplusplus
}
#endif

#if WEFT_GLOBAL_NAMES
using weft::upc_testall;
using weft::upc_testany;
using weft::upc_testsome;
using weft::upc_waitall;
using weft::upc_waitany;
using weft::upc_waitsome;
using weft::weft_poll;
using weft::weft_testsome_indices;
using weft::weft_waitany_for;
using weft::weft_waitsome_indices;
#endif
