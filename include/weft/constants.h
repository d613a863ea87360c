// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "shared_ptr.h"

/* UPC_SHARED_NULL and UPC_IN_PLACE_SRC of C, which are values and may also stand where a static object is
 * initialised, `static upc_shared_ptr_t p = UPC_SHARED_NULL;`. The standard has no such structure. gcc takes
 * a constant object for one without a word, clang a compound literal, though of the latter a pedantic clang
 * complains outside of system headers. */
#if defined(__cplusplus)
/* types.h has them as expressions of the language. */
#elif defined(__GNUC__) && !defined(__clang__)
static const upc_shared_ptr_t weft_null_ __attribute__((unused)) = {0, 0, 0};
static const upc_shared_ptr_t weft_in_place_ __attribute__((unused)) = {UINT64_MAX, UINT32_MAX, UINT32_MAX};
#define UPC_SHARED_NULL (weft_null_)
#define UPC_IN_PLACE_SRC (weft_in_place_)
#else
#pragma GCC system_header
#define UPC_SHARED_NULL ((upc_shared_ptr_t){0, 0, 0})
#define UPC_IN_PLACE_SRC ((upc_shared_ptr_t){UINT64_MAX, UINT32_MAX, UINT32_MAX})
#endif
