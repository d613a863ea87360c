// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#ifdef __cplusplus
extern "C++" {
#endif

#include "upc.h"

/* Non-blocking copies, and the completion of upc_handle_t (UPC 1.3, 7.5). The ends of a copy and its errors
 * are those of upc_memcpy, upc_memget, upc_memput and upc_memset. Where loads and stores reach both ends a
 * copy is complete when it returns. Any other is begun, and goes on while the program computes: until its
 * handle is complete neither end may be changed, and what it writes not be read. Then it is in place. No order
 * among several, and no barrier or fence completes them. Errors of a copy that was begun, as when the other
 * thread has died, come with its completion. */

#ifdef __cplusplus
namespace weft {
#endif

/* With an explicit handle: each returns UPC_COMPLETE_HANDLE or what upc_sync completes (UPC 1.3, 7.5.2). */
WEFT_EXPORT WEFT_HANDLE upc_handle_t upc_memcpy_nb(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes);
WEFT_EXPORT WEFT_HANDLE upc_handle_t upc_memget_nb(void* dst, upc_shared_ptr_t src, size_t nbytes);
WEFT_EXPORT WEFT_HANDLE upc_handle_t upc_memput_nb(upc_shared_ptr_t dst, const void* src, size_t nbytes);
WEFT_EXPORT WEFT_HANDLE upc_handle_t upc_memset_nb(upc_shared_ptr_t dst, int c, size_t nbytes);

/* With the implicit handle of the calling application thread, which upc_synci completes (UPC 1.3, 7.5.3). */
WEFT_EXPORT void upc_memcpy_nbi(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes);
WEFT_EXPORT void upc_memget_nbi(void* dst, upc_shared_ptr_t src, size_t nbytes);
WEFT_EXPORT void upc_memput_nbi(upc_shared_ptr_t dst, const void* src, size_t nbytes);
WEFT_EXPORT void upc_memset_nbi(upc_shared_ptr_t dst, int c, size_t nbytes);

/* Returns when the operation is complete; UPC_COMPLETE_HANDLE and handles of completed operations return at
 * once (UPC 1.3, 7.5.4). Errors: the handle was never issued; what the operation failed with. */
WEFT_EXPORT void upc_sync(upc_handle_t handle);

/* Non-zero if the operation is complete, 0 if not; never waits (UPC 1.3, 7.5.4). Errors: as upc_sync. */
WEFT_EXPORT int upc_sync_attempt(upc_handle_t handle);

/* Returns when all operations with an implicit handle that the calling application thread began are complete
 * (UPC 1.3, 7.5.4). Errors: the first that one of them failed with, after all have ended. */
WEFT_EXPORT void upc_synci(void);

/* Non-zero if they are, 0 if not; never waits (UPC 1.3, 7.5.4). Errors: what one of them failed with. */
WEFT_EXPORT int upc_synci_attempt(void);

#ifdef __cplusplus
}
#endif

#if WEFT_GLOBAL_NAMES
using weft::upc_memcpy_nb;
using weft::upc_memcpy_nbi;
using weft::upc_memget_nb;
using weft::upc_memget_nbi;
using weft::upc_memput_nb;
using weft::upc_memput_nbi;
using weft::upc_memset_nb;
using weft::upc_memset_nbi;
using weft::upc_sync;
using weft::upc_sync_attempt;
using weft::upc_synci;
using weft::upc_synci_attempt;
#endif

#ifdef __cplusplus
} // extern "C++"
#endif
