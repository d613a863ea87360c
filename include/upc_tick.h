// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#ifdef __cplusplus
extern "C++" {
#endif

#include "weft/declare.h"

#include <stdint.h>

/* A clock (UPC 1.3, library, upc_tick.h). Ticks are counted from a point that each thread has for
 * itself, never go back, and are not touched when the time of day is set: differences of one thread's ticks
 * are times. A tick is a nanosecond here. */

typedef uint64_t upc_tick_t;
#define UPC_TICK_MAX UINT64_MAX
#define UPC_TICK_MIN UINT64_C(0)

#ifdef __cplusplus
namespace weft {
#endif

/* The ticks now. May be called at any time, by any thread. No errors. */
WEFT_EXPORT upc_tick_t upc_ticks_now(void);

/* So many ticks in nanoseconds. No errors. */
WEFT_EXPORT uint64_t upc_ticks_to_ns(upc_tick_t ticks);

#ifdef __cplusplus
}
#endif

#if WEFT_GLOBAL_NAMES
using weft::upc_ticks_now;
using weft::upc_ticks_to_ns;
#endif

#ifdef __cplusplus
} // extern "C++"
#endif
