// SPDX-License-Identifier: BSD-3-Clause
/* The beginning and the end of a translated program, and its shared data. */
#include "upc_runtime/library/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <weft/direct.h>

upcr_job_t upcr_job;
const upcr_shared_ptr_t upcr_null_shared = UPCR_NULL_SHARED, upcr_null_pshared = UPCR_NULL_PSHARED;
int32_t upcrt_forall_control;

/* The handler in force, and whether it is the one that prints the line and ends the job. */
static weft_error_handler_t handler_in_force(int* is_default) {
  const weft_error_handler_t now = weft_set_error_handler(NULL);
  *is_default = weft_set_error_handler(now) == now;
  return now;
}

static void tell(int together, const char* call, const char* argument, const char* rule, const char* value,
                 va_list values) {
  char text[300], line[700];
  vsnprintf(text, sizeof text, value, values);
  const char* const between = text[0] == 0 ? "" : argument[0] == 0 ? ": " : " = ";
  snprintf(line, sizeof line, "%s%s%s%s%s: %s", call, argument[0] == 0 ? "" : ": ", argument, between, text,
           rule);
  const weft_error_info_t info = {call, argument, text, rule};
  int is_default = 0;
  const weft_error_handler_t handler = handler_in_force(&is_default);
  /* All threads come here, and thread 0 prints the line and ends the job. A barrier would print its death. */
  if (together && is_default && upcr_job.mythread != 0)
    for (unsigned left = 5; left != 0;)
      left = sleep(left); /* signals of the launcher end it early */
  handler(line, &info);
}

void upcri_fail(const char* call, const char* argument, const char* rule, const char* value, ...) {
  va_list values;
  va_start(values, value);
  tell(0, call, argument, rule, value, values);
  va_end(values);
}

void upcri_fail_together(const char* call, const char* argument, const char* rule, const char* value, ...) {
  va_list values;
  va_start(values, value);
  tell(1, call, argument, rule, value, values);
  va_end(values);
}

void* upcri_memory(size_t bytes) {
  void* const memory = calloc(1, bytes);
  if (memory == NULL) {
    fprintf(stderr, "weft: upcr: no memory for %zu bytes\n", bytes);
    upc_global_exit(1);
  }
  return memory;
}

void upcri_find_job(void) {
  static unsigned char** heaps;
  const uint32_t threads = (uint32_t)upc_threads();
  if (heaps != NULL) return;
  heaps = upcri_memory(threads * sizeof *heaps);
  uint64_t* const host = upcri_memory(threads * sizeof *host);
  const uint32_t me = (uint32_t)upc_mythread();
  const uint64_t begin = weft_direct(me).begin; /* it begins at the same place on each */
  const uint64_t longest = 16; /* as many bytes may be accessed where the first one is inside */
  for (uint32_t t = 0; t != threads; ++t) {
    const weft_direct_t its = weft_direct(t);
    heaps[t] = its.base == NULL ? NULL : its.base + begin;
    host[t] = its.bytes > longest ? its.bytes - longest : 0;
  }
  const int32_t log2_threads = (threads & (threads - 1)) == 0 ? __builtin_ctz(threads) : -1;
  const uint64_t dividends = log2_threads >= 0 ? 0 : UINT64_MAX / threads;
  const upcr_job_t job = {me,           threads, log2_threads, UINT64_MAX / threads + 1, dividends, begin,
                          weft_reach(), host,    heaps};
  upcr_job = job;
  upcri_find_hosts();
}

void* upcr_shared_to_local(upcr_shared_ptr_t p) {
  if (upcr_isnull_shared(p)) return NULL;
  const uint64_t behind = upcri_behind(p, 0);
  if (p.thread < upcr_job.threads && behind < upcr_job.host[p.thread])
    return upcr_job.heaps[p.thread] + behind;
  void* const there = upc_cast(p);
  if (there == NULL)
    upcri_fail(
        "upcr_shared_to_local", "pointer",
        "has its target on another host: a pointer to private memory is made of what lies on the calling "
        "thread, or its host",
        "thread %u, offset 0x%llx", (unsigned)p.thread, (unsigned long long)p.addr);
  return there;
}

static void silent(const char* message, const weft_error_info_t* info) {
  (void)message;
  (void)info;
}

/* The heaps of a host do not overlap, so the one that begins last before the address has it, if any does. */
upcr_shared_ptr_t bupc_inverse_cast(void* local) {
  upcr_shared_ptr_t found = upcr_null_shared;
  const unsigned char *const place = local, *base = NULL;
  for (uint32_t t = 0; t != upcr_job.threads; ++t) {
    const unsigned char* const here = upcr_job.heaps[t];
    if (here == NULL || here > place || (base != NULL && here < base)) continue;
    base = here;
    found.thread = t;
  }
  if (base == NULL) return upcr_null_shared;
  found.addr = upcr_job.heap_begin + (uint64_t)(place - base);
  const weft_error_handler_t handler = weft_set_error_handler(silent);
  void* const back = upc_cast(found);
  weft_set_error_handler(handler);
  return back == local ? found : upcr_null_shared;
}

upcr_shared_ptr_t bupc_local_to_shared(void* local, int thread, int phase) {
  const unsigned char* const base = upcr_job.heaps[upcr_job.mythread];
  const upcr_shared_ptr_t p = {upcr_job.heap_begin + (uint64_t)((const unsigned char*)local - base),
                               (uint32_t)thread, (uint32_t)phase};
  return local == NULL ? upcr_null_shared : p;
}

/* What has no room is named, too: Weft knows only how much it is. */
static const char* no_room;
static void keep_rule(const char* message, const weft_error_info_t* info) {
  static char rule[400];
  (void)message;
  snprintf(rule, sizeof rule, "%s", info->rule);
  no_room = rule;
}

static void allocate(upcr_shared_ptr_t* where, const upcr_startup_shalloc_t* what) {
  if (where->addr != 0) return;
  const int initialized = where->phase != 0;
  const size_t threads = upcr_job.threads, blocks = what->numblocks * (what->mult_by_threads ? threads : 1);
  no_room = NULL;
  const weft_error_handler_t before = weft_set_error_handler(keep_rule);
  *where = upc_all_alloc(blocks, what->blockbytes);
  weft_set_error_handler(before);
  if (no_room != NULL) {
    upcri_fail_together("upcr_startup_shalloc", what->namestr != NULL ? what->namestr : "shared data",
                        no_room, "%zu blocks of %zu bytes", blocks, what->blockbytes);
    return;
  }
  const upcr_shared_ptr_t mine = {where->addr, upcr_job.mythread, 0};
  const size_t own = (blocks + threads - 1 - upcr_job.mythread) / threads;
  if (!initialized && own != 0) memset(upcr_shared_to_local(mine), 0, own * what->blockbytes);
}

void upcr_startup_shalloc(upcr_startup_shalloc_t* infos, size_t count) {
  for (size_t i = 0; i != count; ++i)
    allocate(infos[i].sptr_addr, &infos[i]);
}

void upcr_startup_pshalloc(upcr_startup_pshalloc_t* infos, size_t count) {
  for (size_t i = 0; i != count; ++i) {
    const upcr_startup_shalloc_t same = {infos[i].psptr_addr,      infos[i].blockbytes, infos[i].numblocks,
                                         infos[i].mult_by_threads, infos[i].elemsz,     infos[i].namestr,
                                         infos[i].typestr};
    allocate(infos[i].psptr_addr, &same);
  }
}

/* Where the private array has the value of this element, or null if it ends before. */
static const unsigned char* value_of(size_t element, const unsigned char* src,
                                     const upcr_startup_arrayinit_diminfo_t* dims, size_t dimcnt,
                                     size_t elembytes) {
  size_t place = 0, stride = 1;
  for (size_t d = dimcnt; d-- != 0;) {
    const size_t size = dims[d].shared_elems * (dims[d].mult_by_threads ? upcr_job.threads : 1);
    const size_t index = d == 0 ? element : element % size;
    if (index >= dims[d].local_elems) return NULL;
    place += index * stride;
    stride *= dims[d].local_elems;
    element /= size;
  }
  return src + place * elembytes;
}

void upcr_startup_initarray(upcr_shared_ptr_t dst, const void* src,
                            const upcr_startup_arrayinit_diminfo_t* dims, size_t dimcnt, size_t elembytes,
                            size_t blockelems) {
  const size_t me = upcr_job.mythread, threads = upcr_job.threads;
  size_t total = 1;
  for (size_t d = 0; d != dimcnt; ++d)
    total *= dims[d].shared_elems * (dims[d].mult_by_threads ? threads : 1);
  if (blockelems == 0 && dst.thread != me) return;
  const size_t block = blockelems == 0 ? total : blockelems, first = blockelems == 0 ? 0 : me * block;
  const size_t gap = blockelems == 0 ? total : threads * block;
  const upcr_shared_ptr_t mine = {dst.addr, (uint32_t)me, 0};
  if (first >= total) return;
  unsigned char* to = upcr_shared_to_local(mine);
  for (size_t begin = first; begin < total; begin += gap)
    for (size_t i = begin; i != begin + block && i != total; ++i, to += elembytes) {
      const unsigned char* const value = src == NULL ? NULL : value_of(i, src, dims, dimcnt, elembytes);
      if (value != NULL)
        memcpy(to, value, elembytes);
      else
        memset(to, 0, elembytes);
    }
}

static int fits(const upcr_unit_t* unit) {
  if (unit->major != UPCR_RUNTIME_SPEC_MAJOR || unit->minor > UPCR_RUNTIME_SPEC_MINOR) {
    upcri_fail_together("upcr_begin", unit->name,
                        "is another than 3.0 to 3.14, which this library has: translate it with a translator "
                        "for one of these",
                        "runtime specification %d.%d", unit->major, unit->minor);
    return 0;
  }
  if (unit->threads == 0 || unit->threads == (int)upcr_job.threads) return 1;
  char rule[160];
  snprintf(rule, sizeof rule,
           "and the job has %u: start as many as it was compiled for, or compile it for any number",
           (unsigned)upcr_job.threads);
  upcri_fail_together("upcr_begin", unit->name, rule, "compiled for %d threads", unit->threads);
  return 0;
}

void upcr_begin(const upcr_unit_t* const* units, size_t count) {
  upcri_find_job();
  for (size_t i = 0; i != count; ++i)
    if (units[i] != NULL && !fits(units[i])) return;
  for (size_t i = 0; i != count; ++i)
    if (units[i] != NULL) units[i]->allocate();
  weft_barrier(); /* all is zero before a value is written */
  for (size_t i = 0; i != count; ++i)
    if (units[i] != NULL) units[i]->initialize();
  weft_barrier();
}

static int running;
static void end(void) {
  if (!running) return;
  running = 0;
  weft_finalize(); /* after all threads have come */
}

int upcr_run(const upcr_program_t* program, int argc, char** argv) {
  weft_init(&argc, &argv);
  running = 1;
  atexit(end);
  const upcr_unit_t whole = {"the program", NULL, NULL, UPCR_RUNTIME_SPEC_MAJOR, 0, program->threads};
  upcri_find_job();
  if (!fits(&whole)) return 1;
  upcr_begin(program->units, program->count);
  upcr_place_image(&program->image);
  const int status = program->user_main(argc, argv);
  fflush(NULL);
  end();
  return status;
}

void upcr_notify(int barrierval, int flags) {
  if (flags & UPCR_BARRIERFLAG_ANONYMOUS)
    weft_notify();
  else
    weft_notify_value(barrierval);
}

void upcr_wait(int barrierval, int flags) {
  if (flags & UPCR_BARRIERFLAG_ANONYMOUS)
    weft_wait();
  else
    upc_barrier_wait(barrierval);
}

int upcr_try_wait(int barrierval, int flags) {
  if (!weft_wait_attempt()) return 0;
  upcr_wait(barrierval, flags);
  return 1;
}
