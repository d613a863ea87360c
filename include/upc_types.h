// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#ifdef __cplusplus
extern "C++" {
#endif

/* The types and constants that several headers of the library share (UPC 1.3, 7.3). */
#include "weft/type.h"
#include "weft/types.h"

#ifdef __cplusplus
} // extern "C++"
#endif
