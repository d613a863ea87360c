// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "upc_runtime/include/upc_io.h"
#include "upc_runtime/library/internal.h"

/* A file of all threads: one descriptor on each, and what one call moves.
 *
 * A thread reads and writes the file by itself, each its part. Data of shared arrays pass through `staging`,
 * since a part of the file is not a part of a thread: a thread's elements of it lie together in its memory,
 * so there is one copy to or from each thread. The only words that threads exchange are what each has moved,
 * and its error; after that all know that all have done their part. */

/* Memory, and the place in the file. */
typedef struct upcri_piece_t {
  unsigned char* memory;
  size_t bytes;
  upc_off_t offset;
} upcri_piece_t;

/* Elements of a shared array, from one on, which lie from a place of the staging on. */
typedef struct upcri_spread_t {
  upcr_shared_ptr_t array;
  size_t block, size, first, count, staged;
} upcri_spread_t;

typedef struct upcri_transfer_t {
  int writes, is_common, moves_pointer;
  upcri_piece_t* pieces;
  size_t piece_count;
  upcri_spread_t* spreads;
  size_t spread_count;
  unsigned char* staging;
  upc_off_t moved;
  int error;
} upcri_transfer_t;

struct upc_file_t {
  int descriptor, flags;
  char* name;
  upc_off_t at;
  upc_hint_t* hints;
  size_t hint_count;
  upcr_shared_ptr_t words; /* of each thread: its two, and room for those of all */
  upcri_transfer_t transfer;
  int is_outstanding;
  struct upcri_carrier_t* carrier; /* the thread that does the outstanding one (file_transfers.c) */
};

/* The sum of what all threads give, or -1 with errno if one gives an error, on all. All have called it then.
 */
upc_off_t upcri_agree(upcr_shared_ptr_t words, upc_off_t value, int error);
/* The first error that can be seen from the arguments of every call: 0, or one of errno's. */
int upcri_usable(const upc_file_t* file);
