// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <stddef.h>
#include <stdint.h>

/* A pointer-to-shared, by value. All zero is the null pointer. */
typedef struct upc_shared_ptr_t {
  uint64_t addr;   /* bytes from the beginning of the shared segment of `thread`; the same on all threads for
                      symmetric objects */
  uint32_t thread; /* the thread that the target has affinity to */
  uint32_t phase;  /* elements from the beginning of the block */
} upc_shared_ptr_t;
