// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/* upc.h, as programs include it that mean their accesses to shared memory to be relaxed (UPC 1.3, 7.1). It
 * makes no difference here, nor does upc_strict.h: an access through the library is complete when it returns,
 * so the accesses of a thread are in the order of its program. What it writes and reads through upc_cast
 * follows the rules of C and C++; upc_fence and the barriers order that, too. */
#include "upc.h"
