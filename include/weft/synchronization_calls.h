// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "declare.h"
#include "types.h"

/* The functions behind the statements of synchronization.h. */

/* What a fence returns: a function that does nothing. */
typedef void (*weft_nothing_t)(void);

#ifdef __cplusplus
namespace weft {
#endif

/* The barrier over all threads: returns when all have come to it (UPC 1.3, 6.6.1). The values that threads
 * give must be equal; a thread without one agrees with all. Errors: two threads gave different values;
 * between upc_notify and upc_wait. */
WEFT_EXPORT void weft_barrier(void);
WEFT_EXPORT void weft_barrier_value(int value);

/* Says that this thread has come to the barrier, and goes on (UPC 1.3, 6.6.1). No collective may be called
 * before the upc_wait that follows; completion functions and copies by one thread may. Errors: twice without
 * a upc_wait between. */
WEFT_EXPORT void weft_notify(void);
WEFT_EXPORT void weft_notify_value(int value);

/* Returns when all threads have said so (UPC 1.3, 6.6.1). A value must equal those that this and the other
 * threads gave to upc_notify, if they gave any.
 * Errors: no upc_notify before; the values differ, here or between threads. */
WEFT_EXPORT void weft_wait(void);
WEFT_EXPORT void upc_barrier_wait(int value);

/* Non-zero if all threads have said so, when the upc_wait that must follow even then returns at once; 0 if
 * not. Never waits. An extension. Errors: no upc_notify before. */
WEFT_EXPORT int weft_wait_attempt(void);

/* upc_fence: every access of the calling thread to shared memory that comes before it in the program is
 * complete before any that comes behind it begins, by loads and stores through upc_cast too (UPC 1.3, 6.6.1).
 * Copies with a handle are complete when that is completed, a fence does not wait for them (UPC 1.3, 7.5).
 * What it returns makes `upc_fence();` a statement like `upc_fence;`. No errors. */
WEFT_EXPORT weft_nothing_t weft_fence(void);

/* upc_wait(h): returns when the operation of *handle is complete and sets *handle to UPC_HANDLE_COMPLETE,
 * which is itself accepted and returns at once (V0.3, 5.4.1). Any thread of the process may complete any
 * handle. Errors: handle is null or was never issued; what the operation failed with. */
WEFT_EXPORT void weft_wait_handle(upc_coll_handle_t* handle);
/* The same for a handle that is not a variable. */
WEFT_EXPORT void upc_wait_value(upc_coll_handle_t handle);

/* upc_test(h): a positive number if the operation of *handle is complete, which is then set to
 * UPC_HANDLE_COMPLETE; a negative number if not (V0.3, 5.4.2). Errors: as upc_wait. */
WEFT_EXPORT int weft_test_handle(upc_coll_handle_t* handle);
/* The same for a handle that is not a variable. */
WEFT_EXPORT int upc_test_value(upc_coll_handle_t handle);

/* A positive number if the operation is complete and a negative number if not; the handle stays as it is, and
 * the operation is not left by it (V0.3, 5.4.9). An operation that failed is complete; the error is left to
 * the call that completes it. Errors: the handle was never issued. */
WEFT_EXPORT int upc_get_status(upc_coll_handle_t handle);

#ifdef __cplusplus
}
#endif

#if WEFT_GLOBAL_NAMES
using weft::upc_barrier_wait;
using weft::upc_get_status;
using weft::upc_test_value;
using weft::upc_wait_value;
#endif
