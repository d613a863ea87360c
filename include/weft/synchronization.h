// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "synchronization_calls.h"

/* The barrier, whole and split, the fence, and the completion of asynchronous collectives. `upc_wait` is the
 * name of both.
 *
 *                                            C++                          C
 *   barrier                                  upc_barrier; upc_barrier();  upc_barrier();
 *   barrier with a value                     upc_barrier(v);              upc_barrier(v);
 *   first half of the split barrier          upc_notify; upc_notify();    upc_notify();
 *   with a value                             upc_notify(v);               upc_notify(v);
 *   second half                              upc_wait; upc_wait();        upc_wait();
 *   with a value                             upc_wait(v); v is an int     upc_barrier_wait(v);
 *   fence                                    upc_fence; upc_fence();      upc_fence; upc_fence();
 *   completion of a handle, sets it to 0     upc_wait(h);                 upc_wait(h);
 *   the same for a value                     upc_wait(f()); h const       upc_wait_value(f());
 *   has it completed? if so, sets it to 0    upc_test(h)                  upc_test(h)
 *
 * In C the other bare names without parentheses do not compile. With WEFT_NO_GLOBAL_NAMES they are functions
 * of namespace weft: weft::upc_barrier(), weft::upc_fence(). */

#ifdef __cplusplus
#include "statements.hpp"
#else
#include "empty.h"
#define upc_fence weft_fence()
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
