#pragma once

/* The language's own part of UPC for C11 and C++20 programs: threads, pointers-to-shared, shared memory and
 * barriers. One process is one thread. */

#include "weft/completion.h"
#include "weft/heap.h"
#include "weft/job.h"
#include "weft/pointer.h"
#include "weft/synchronization.h"
#include "weft/types.h"
