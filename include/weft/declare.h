// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/* What the shared library hands out; everything else in it is hidden.
 *
 * Every function of the public headers exists twice under one name: with C linkage for C, and in namespace
 * weft, brought into the global namespace by a using-declaration, for C++. The C form reports a wrong call to
 * the installed error handler, the C++ form throws weft::error. WEFT_NO_GLOBAL_NAMES leaves the
 * using-declarations out, and the macros that are no constants (upc_barrier, MYTHREAD and their like): the
 * names are then `weft::upc_...` only. The constants UPC_... stay. */
#if defined(__cplusplus) && __cplusplus <= 201703L
#error "Weft needs C++20: compile with -std=c++20, or link to weft::weft in CMake, which sets it"
/* No file: it ends the compilation here, instead of a hundred errors that follow from the one above. */
#include "stop_see_the_error_above"
#endif

#define WEFT_EXPORT __attribute__((visibility("default")))
/* Of a call whose handle must be completed: the compiler warns where it is dropped. */
#define WEFT_HANDLE __attribute__((warn_unused_result))

#ifdef __cplusplus
#define WEFT_INLINE inline constexpr
#else
#define WEFT_INLINE static inline
#endif

#if defined(__cplusplus) && !defined(WEFT_NO_GLOBAL_NAMES)
#define WEFT_GLOBAL_NAMES 1
#else
#define WEFT_GLOBAL_NAMES 0
#endif
