// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#ifdef __cplusplus
extern "C++" {
#endif

#include "upc.h"

/* Pointers to the memory of other threads (UPC 1.3, 7.6). */

/* Which shared objects of a thread can be reached by loads and stores of the calling thread. */
#define UPC_CASTABLE_ALL_ALLOC 1
#define UPC_CASTABLE_GLOBAL_ALLOC 2
#define UPC_CASTABLE_ALLOC 4
#define UPC_CASTABLE_STATIC 8
#define UPC_CASTABLE_ALL                                                                                     \
  (UPC_CASTABLE_ALL_ALLOC | UPC_CASTABLE_GLOBAL_ALLOC | UPC_CASTABLE_ALLOC | UPC_CASTABLE_STATIC)

typedef struct upc_thread_info_t {
  int guaranteedCastable; /* upc_cast never fails for these */
  int probablyCastable;   /* it may well succeed for these */
} upc_thread_info_t;

#ifdef __cplusplus
namespace weft {
#endif

/* The private address of a shared object, or a null pointer if it cannot be reached by loads and stores from
 * here (UPC 1.3, 7.6.2). A null pointer gives a null pointer; objects of the calling thread can always be
 * reached. The address is that of the target, and stays valid until the object is freed. Errors: the thread
 * of the pointer does not exist; not inside the shared heap. */
WEFT_EXPORT void* upc_cast(upc_shared_ptr_t ptr);

/* What can be cast of the objects with affinity to a thread (UPC 1.3, 7.6.3). Errors: no such thread. */
WEFT_EXPORT upc_thread_info_t upc_thread_info(size_t thread);

#ifdef __cplusplus
}
#endif

#if WEFT_GLOBAL_NAMES
using weft::upc_cast;
using weft::upc_thread_info;
#endif

#ifdef __cplusplus
} // extern "C++"
#endif
