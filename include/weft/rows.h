// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "signal.h"

/* Copies of rows that do not lie one behind the other: the columns of an array in two dimensions, or a part
 * of it, from one array to another without a buffer between. An extension; in C++ weft::tile.
 *
 * There are `rows` of them, of nbytes each, and their beginnings are dst_stride bytes apart at one end and
 * src_stride at the other one. A column of doubles is as many rows of 8 bytes. Within a host they are
 * copied at once; between hosts they go on by themselves, and share one handle. Over sockets short rows go
 * packed, 8 KiB of them in a message; an adapter that puts and gets by itself moves each row alone, so there
 * hundreds of rows of a few bytes are better packed by the program. */

#ifdef __cplusplus
namespace weft {
#endif

/* Copies rows of private memory to dst, as upc_memput does, and behind the last one raises the signal as
 * weft_put_signal does, which says what is ordered; null: there is none, and value and how are not looked at.
 * rows or nbytes 0: the signal alone. Returns UPC_HANDLE_COMPLETE, or a handle for upc_wait and its like:
 * when it is complete src may be changed and the bytes are in place. Errors: as upc_memput and
 * weft_put_signal; a stride of less than nbytes, if there are several rows; rows of dst that have a byte in
 * common with those of src. */
WEFT_EXPORT WEFT_HANDLE upc_coll_handle_t weft_put_rows(upc_shared_ptr_t dst, size_t dst_stride,
                                                        const void* src, size_t src_stride, size_t nbytes,
                                                        size_t rows, upc_shared_ptr_t signal, uint64_t value,
                                                        weft_signal_t how);
/* The same from shared memory to private one, without a signal. Neither end may be changed, and dst not be
 * read, until the handle is complete. Errors: as upc_memget; those of weft_put_rows. */
WEFT_EXPORT WEFT_HANDLE upc_coll_handle_t weft_get_rows(void* dst, size_t dst_stride, upc_shared_ptr_t src,
                                                        size_t src_stride, size_t nbytes, size_t rows);

#ifdef __cplusplus
}
#endif

#if WEFT_GLOBAL_NAMES
using weft::weft_get_rows;
using weft::weft_put_rows;
#endif
