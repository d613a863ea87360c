#pragma once

/* What the shared library hands out; everything else in it is hidden.
 *
 * Every function of the public headers exists twice under one name: with C linkage for C, and in namespace
 * weft, brought into the global namespace by a using-declaration, for C++. The C form reports a wrong call to
 * the installed error handler, the C++ form throws weft::error. WEFT_NO_GLOBAL_NAMES leaves the
 * using-declarations out: the C names are then `weft::upc_...` only. */
#define WEFT_EXPORT __attribute__((visibility("default")))

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
