// SPDX-License-Identifier: BSD-3-Clause
/* What GUPC and clang-upc call: __get..., __put..., __copy..., barriers, and the static shared data of their
 * objects. Their pointer-to-shared is that of upc.h: a structure, its address first, of 64, 32 and 32 bits.
 * The names and arguments are those of the compilers' interface (libupc, upc_access.h). */
#include "upc_runtime/library/internal.h"

#include <limits.h>
#undef MYTHREAD
#undef THREADS

/* Variables that compiled code reads. */
WEFT_EXPORT int THREADS, MYTHREAD, __upc_forall_depth;

upcr_shared_ptr_t upcr_place_image(const upcr_image_t* image) {
  THREADS = (int)upcr_job.threads;
  MYTHREAD = (int)upcr_job.mythread;
  const upcr_shared_ptr_t none = UPCR_NULL_SHARED;
  if (image->bytes == 0) return none;
  /* A block from the beginning of the heap past the section. What of it is not touched takes no memory. */
  const uint64_t begin = upcr_job.heap_begin;
  const uint64_t end = image->address + image->bytes, heap = weft_setting("WEFT_HEAP_SIZE");
  if (image->address <= begin || end - begin >= heap) {
    upcri_fail_together(
        "upcr_place_image", "shared variables",
        image->address <= begin
            ? "lie where the heap has not begun: link the program with weftcc, which places them"
            : "reach past the end of the heap: set WEFT_HEAP_SIZE to as much and what the "
              "program allocates",
        "%zu bytes at 0x%llx", image->bytes, (unsigned long long)image->address);
    return none;
  }
  const upcr_shared_ptr_t block = upc_all_alloc(upcr_job.threads, end - begin);
  if (block.addr > image->address || block.addr + (end - begin) < end)
    upcri_fail_together("upcr_place_image", "shared variables",
                        "are needed where other shared memory is already: call it before other allocations",
                        "%zu bytes at 0x%llx", image->bytes, (unsigned long long)image->address);
  const upcr_shared_ptr_t mine = {image->address, upcr_job.mythread, 0};
  memcpy(upc_cast(mine), image->contents, image->bytes);
  weft_barrier();
  for (size_t i = 0; i != image->functions; ++i)
    if (image->initialize[i] != NULL) image->initialize[i]();
  weft_barrier();
  return block;
}

/* A relaxed and a strict access, and both with the place in the source, which is for a profiler. */
#define GETTER(name, of, strict, ...)                                                                        \
  WEFT_EXPORT of name(upc_shared_ptr_t p __VA_ARGS__) {                                                      \
    of value;                                                                                                \
    if (strict) weft_fence();                                                                                \
    upcri_get(&value, p, 0, sizeof value, upcri_here);                                                       \
    if (strict) weft_fence();                                                                                \
    return value;                                                                                            \
  }
#define PUTTER(name, of, strict, ...)                                                                        \
  WEFT_EXPORT void name(upc_shared_ptr_t p, of value __VA_ARGS__) {                                          \
    if (strict) weft_fence();                                                                                \
    upcri_put(p, 0, &value, sizeof value, upcri_here);                                                       \
    if (strict) weft_fence();                                                                                \
  }
#define UNUSED_PLACE , __attribute__((unused)) const char *file, __attribute__((unused)) int line
#define ACCESSES(mode, of)                                                                                   \
  GETTER(__get##mode##2, of, 0, )                                                                            \
  GETTER(__gets##mode##2, of, 1, )                                                                           \
  GETTER(__getg##mode##3, of, 0, UNUSED_PLACE)                                                               \
  GETTER(__getsg##mode##3, of, 1, UNUSED_PLACE)                                                              \
  PUTTER(__put##mode##2, of, 0, )                                                                            \
  PUTTER(__puts##mode##2, of, 1, )                                                                           \
  PUTTER(__putg##mode##4, of, 0, UNUSED_PLACE)                                                               \
  PUTTER(__putsg##mode##4, of, 1, UNUSED_PLACE)

__extension__ typedef unsigned __int128 sixteen_bytes;
ACCESSES(qi, uint8_t)
ACCESSES(hi, uint16_t)
ACCESSES(si, uint32_t)
ACCESSES(di, uint64_t)
ACCESSES(ti, sixteen_bytes)
ACCESSES(sf, float)
ACCESSES(df, double)
ACCESSES(tf, long double)
ACCESSES(xf, long double)

/* Blocks: to private memory, from it, and between two pointers-to-shared. */
#define BLOCKS(get, put, copy, strict, PLACE)                                                                \
  WEFT_EXPORT void get(void* to, upc_shared_ptr_t from, size_t nbytes PLACE) {                               \
    if (strict) weft_fence();                                                                                \
    upcri_get(to, from, 0, nbytes, upcri_here);                                                              \
    if (strict) weft_fence();                                                                                \
  }                                                                                                          \
  WEFT_EXPORT void put(upc_shared_ptr_t to, const void* from, size_t nbytes PLACE) {                         \
    if (strict) weft_fence();                                                                                \
    upcri_put(to, 0, from, nbytes, upcri_here);                                                              \
    if (strict) weft_fence();                                                                                \
  }                                                                                                          \
  WEFT_EXPORT void copy(upc_shared_ptr_t to, upc_shared_ptr_t from, size_t nbytes PLACE) {                   \
    if (strict) weft_fence();                                                                                \
    upc_memcpy(to, from, nbytes);                                                                            \
    if (strict) weft_fence();                                                                                \
  }
BLOCKS(__getblk3, __putblk3, __copyblk3, 0, )
BLOCKS(__getsblk3, __putsblk3, __copysblk3, 1, )
BLOCKS(__getgblk5, __putgblk5, __copygblk5, 0, UNUSED_PLACE)
BLOCKS(__getsgblk5, __putsgblk5, __copysgblk5, 1, UNUSED_PLACE)

/* The private address of what lies on this thread or its host. */
WEFT_EXPORT void* __getaddr(upc_shared_ptr_t p) {
  return upcr_shared_to_local(p);
}
/* The same of a host's, too, which this one is here anyway. */
WEFT_EXPORT void* __cvtaddr(upc_shared_ptr_t p) {
  return upcr_shared_to_local(p);
}
WEFT_EXPORT void* __getaddrg(upc_shared_ptr_t p UNUSED_PLACE) {
  return upcr_shared_to_local(p);
}

/* A statement without a value comes with this one. */
static int is_anonymous(int value) {
  return value == INT_MIN ? UPCR_BARRIERFLAG_ANONYMOUS : 0;
}
WEFT_EXPORT void __upc_notify(int value) {
  upcr_notify(value, is_anonymous(value));
}
WEFT_EXPORT void __upc_wait(int value) {
  upcr_wait(value, is_anonymous(value));
}
WEFT_EXPORT void __upc_barrier(int value) {
  upcr_barrier(value, is_anonymous(value));
}
WEFT_EXPORT void __upc_notifyg(int value UNUSED_PLACE) {
  __upc_notify(value);
}
WEFT_EXPORT void __upc_waitg(int value UNUSED_PLACE) {
  __upc_wait(value);
}
WEFT_EXPORT void __upc_barrierg(int value UNUSED_PLACE) {
  __upc_barrier(value);
}
WEFT_EXPORT void __upc_fence(void) {
  upcr_poll();
}
