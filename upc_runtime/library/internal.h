// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "upc_runtime/include/upcr/berkeley.h"
#include "upc_runtime/include/upcr/program.h"

#include <upc_atomic.h>

/* What the files of the library share. Errors go where those of Weft go: to the program's handler, or as one
 * line to stderr, upon which the job ends. */

/* `value` and what follows are printed as printf does. Returns if the program has a handler that does. */
void upcri_fail(const char* call, const char* argument, const char* rule, const char* value, ...)
    __attribute__((format(printf, 4, 5)));

/* An error that all threads have found: the first of them tells it, and ends the job. */
void upcri_fail_together(const char* call, const char* argument, const char* rule, const char* value, ...)
    __attribute__((format(printf, 4, 5)));

/* Memory, or the end of the job. */
void* upcri_memory(size_t bytes);

/* Finds the job and the heaps: the beginning of upcr_begin, and of a program of GUPC or clang-upc. May be
 * called again. */
void upcri_find_job(void);

/* Operations on 8 bytes: semaphores are counted by them, too. Made, with what else upcr/berkeley.h needs, by
 * upcri_find_hosts, which upcri_find_job calls; collective. */
extern upc_atomicdomain_t upcri_counting;
void upcri_find_hosts(void);

/* Copies under way that have, or will have, one handle: upcr_begin_nbi_accessregion. A call that makes one of
 * its own keeps what the program has begun in `outer`. */
typedef struct upcri_region_t {
  upcr_handle_t* handles;
  size_t count, room;
  int is_open;
} upcri_region_t;
void upcri_begin_region(upcri_region_t* outer);
upcr_handle_t upcri_end_region(const upcri_region_t* outer);
