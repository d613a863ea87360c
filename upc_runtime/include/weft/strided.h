// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <stddef.h>
#include <upc_nb.h>

/* Copies of bytes that do not lie one behind the other: Berkeley's extension of UPC (its proposal for memory
 * copies that are not contiguous). Each end in shared memory lies on one thread. The ends must not overlap.
 *
 * fstrided: each end has chunkcount chunks of chunklen bytes, whose beginnings are chunkstride bytes apart;
 * both ends have as many bytes together. strided: count[0] bytes lie together; count[i] such groups of the
 * level below are strides[i - 1] bytes apart, for i from 1 to levels. vlist: each end is a list of places
 * with a length for each, ilist: with one length for all; the bytes of one list go to those of the other, in
 * order, whatever pieces each is of. Each place of a list may be of another thread. The lists are read before
 * the call returns, also with `async`.
 *
 * The forms with `async` return a handle for upcr_wait_syncnb or bupc_waitsync, until when neither end may be
 * touched; within a host they are complete when they return. Errors: those of upc_memcpy, upc_memget and
 * upc_memput; the ends differ in bytes; a stride is less than what it skips; a list of null. */
#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_FSTRIDED(name, to, from)                                                                        \
  WEFT_EXPORT void name(to dst, size_t dstchunklen, size_t dstchunkstride, size_t dstchunkcount, from src,   \
                        size_t srcchunklen, size_t srcchunkstride, size_t srcchunkcount);                    \
  WEFT_EXPORT upc_handle_t name##_async(to dst, size_t dstchunklen, size_t dstchunkstride,                   \
                                        size_t dstchunkcount, from src, size_t srcchunklen,                  \
                                        size_t srcchunkstride, size_t srcchunkcount)
WEFT_FSTRIDED(bupc_memcpy_fstrided, upc_shared_ptr_t, upc_shared_ptr_t);
WEFT_FSTRIDED(bupc_memput_fstrided, upc_shared_ptr_t, const void*);
WEFT_FSTRIDED(bupc_memget_fstrided, void*, upc_shared_ptr_t);

#define WEFT_STRIDED(name, to, from)                                                                         \
  WEFT_EXPORT void name(to dst, const size_t dststrides[], from src, const size_t srcstrides[],              \
                        const size_t count[], size_t levels);                                                \
  WEFT_EXPORT upc_handle_t name##_async(to dst, const size_t dststrides[], from src,                         \
                                        const size_t srcstrides[], const size_t count[], size_t levels)
WEFT_STRIDED(bupc_memcpy_strided, upc_shared_ptr_t, upc_shared_ptr_t);
WEFT_STRIDED(bupc_memput_strided, upc_shared_ptr_t, const void*);
WEFT_STRIDED(bupc_memget_strided, void*, upc_shared_ptr_t);

typedef struct bupc_smemvec_t {
  upc_shared_ptr_t addr;
  size_t len;
} bupc_smemvec_t;
typedef struct bupc_pmemvec_t {
  void* addr;
  size_t len;
} bupc_pmemvec_t;
#define WEFT_LISTS(name, to_list, to, from_list, from)                                                       \
  WEFT_EXPORT void name##_vlist(size_t dstcount, const to_list dstlist[], size_t srccount,                   \
                                const from_list srclist[]);                                                  \
  WEFT_EXPORT upc_handle_t name##_vlist_async(size_t dstcount, const to_list dstlist[], size_t srccount,     \
                                              const from_list srclist[]);                                    \
  WEFT_EXPORT void name##_ilist(size_t dstcount, to const dstlist[], size_t dstlen, size_t srccount,         \
                                from const srclist[], size_t srclen);                                        \
  WEFT_EXPORT upc_handle_t name##_ilist_async(size_t dstcount, to const dstlist[], size_t dstlen,            \
                                              size_t srccount, from const srclist[], size_t srclen)
WEFT_LISTS(bupc_memcpy, bupc_smemvec_t, upc_shared_ptr_t, bupc_smemvec_t, upc_shared_ptr_t);
WEFT_LISTS(bupc_memput, bupc_smemvec_t, upc_shared_ptr_t, bupc_pmemvec_t, const void*);
WEFT_LISTS(bupc_memget, bupc_pmemvec_t, void*, bupc_smemvec_t, upc_shared_ptr_t);
#undef WEFT_LISTS
#undef WEFT_FSTRIDED
#undef WEFT_STRIDED

#ifdef __cplusplus
}
#endif
