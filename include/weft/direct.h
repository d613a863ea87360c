// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "declare.h"
#include "types.h"

/* Loads and stores of other threads' memory without a call for each: an extension, for compilers and
 * libraries that are built on this one. */

/* How a thread's shared heap is reached. For every p of that thread with
 *
 *   p.addr - begin < bytes
 *
 * base + p.addr is upc_cast(p): the difference of upc_cast(p) and upc_addrfield(p) is the same for all that
 * the thread has, whether it came from upc_all_alloc, upc_global_alloc, upc_alloc or weft_register_shared,
 * and from the return of weft_init until weft_finalize. The null pointer is outside. */
typedef struct weft_direct_t {
  unsigned char* base; /* null if nothing of the thread is reached by loads and stores */
  uint64_t begin, bytes;
} weft_direct_t;

#ifdef __cplusplus
namespace weft {
#endif

/* The above for one thread. bytes is 0 for a thread of another host, and for all with WEFT_CHECK=1, so that
 * a program that goes by it makes calls there, which look at each access. Errors: no such thread; before
 * weft_init or after weft_finalize. */
WEFT_EXPORT weft_direct_t weft_direct(size_t thread);

/* The same for all threads, as it is at present: THREADS numbers, which stay where they are until
 * weft_finalize. Where p.addr - begin < reach[p.thread], an access of at most 16 bytes at p may be loads and
 * stores. All are 0 while a collective is under way that calls of this thread alone move on, since the
 * library has no thread of its own awake (WEFT_PROGRESS helping or caller): a program that calls weft_poll
 * for every few accesses that it finds out of reach has its collectives go on while it computes. They are as
 * before at the first weft_poll behind all completions. In a job with WEFT_PROGRESS=caller whose threads do
 * not all reach each other's memory they are 0 at all times, for what others put there arrives in calls. For
 * programs whose calls one thread makes. Errors: before weft_init or after weft_finalize. */
WEFT_EXPORT const uint64_t* weft_reach(void);

#ifdef __cplusplus
}
#endif

#if WEFT_GLOBAL_NAMES
using weft::weft_direct;
using weft::weft_reach;
#endif
