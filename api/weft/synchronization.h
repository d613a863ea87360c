#pragma once
#include "declare.h"
#include "types.h"

/* The barrier, whole and split, and the completion of asynchronous collectives. `upc_wait` is the name of
 * both.
 *
 *                                            C++                          C
 *   barrier                                  upc_barrier; upc_barrier();  upc_barrier();
 *   barrier with a value                     upc_barrier(v);              upc_barrier(v);
 *   first half of the split barrier          upc_notify; upc_notify();    upc_notify();
 *   with a value                             upc_notify(v);               upc_notify(v);
 *   second half                              upc_wait; upc_wait();        upc_wait();
 *   with a value                             upc_wait(v); v is an int     upc_barrier_wait(v);
 *   completion of a handle, sets it to 0     upc_wait(h);                 upc_wait(h);
 *   the same for a value                     upc_wait(f()); h const       upc_wait_value(f());
 *   has it completed? if so, sets it to 0    upc_test(h)                  upc_test(h)
 *
 * In C the bare names without parentheses do not compile. */

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
#else
#include "empty.h"
#define upc_barrier(...) WEFT_PICK(WEFT_BARRIER_, __VA_ARGS__)(__VA_ARGS__)
#define WEFT_BARRIER_0(value) weft_barrier_value(value)
#define WEFT_BARRIER_1() weft_barrier()
#define upc_notify(...) WEFT_PICK(WEFT_NOTIFY_, __VA_ARGS__)(__VA_ARGS__)
#define WEFT_NOTIFY_0(value) weft_notify_value(value)
#define WEFT_NOTIFY_1() weft_notify()
#define upc_wait(...) WEFT_PICK(WEFT_WAIT_, __VA_ARGS__)(__VA_ARGS__)
#define WEFT_WAIT_0(handle) weft_wait_handle(&(handle))
#define WEFT_WAIT_1() weft_wait()
#define upc_test(handle) weft_test_handle(&(handle))
#endif

#if WEFT_GLOBAL_NAMES
using weft::upc_barrier_wait;
using weft::upc_get_status;
using weft::upc_test_value;
using weft::upc_wait_value;
#endif

#ifdef __cplusplus
#include "statements.hpp"
#endif
