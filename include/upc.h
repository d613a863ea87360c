// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/* C++ also where a C++ program has `extern "C"` around the #include. */
#ifdef __cplusplus
extern "C++" {
#endif

/* The language's own part of UPC for C11 and C++20 programs: threads, pointers-to-shared, shared memory,
 * barriers and locks. One process is one thread. */

#include "weft/completion.h"
#include "weft/heap.h"
#include "weft/job.h"
#include "weft/lock.h"
#include "weft/pointer.h"
#include "weft/rows.h"
#include "weft/signal.h"
#include "weft/synchronization.h"
#include "weft/types.h"

#ifdef __cplusplus
} // extern "C++"
#endif
