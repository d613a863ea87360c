// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "pointers.h"

#include <string.h>
#include <upc_castable.h>
#include <upc_nb.h>

/* Reads and writes of shared memory. Source: the runtime specification of Berkeley UPC, shared accesses.
 *
 * An access of at most 8 bytes to memory of the own host is a load or a store behind a check of its place.
 * All else is a call into Weft, and so is every access with WEFT_CHECK=1. Every access is complete when it
 * returns, unless its name has `nb`.
 *
 * A relaxed access is one volatile load or store, which the compiler neither leaves out nor moves past
 * another one. A strict one has a fence in front and behind. */

/* A value that fits into a register, in its low bytes. */
typedef uint64_t upcr_register_value_t;
/* Of a copy under way. 0 is one that is complete. */
typedef upc_handle_t upcr_handle_t;
#define UPCR_INVALID_HANDLE UPC_COMPLETE_HANDLE
/* Of a value under way. */
typedef struct upcr_value_on_its_way* upcr_valget_handle_t;

typedef uint16_t __attribute__((may_alias, aligned(1))) upcri_u16;
typedef uint32_t __attribute__((may_alias, aligned(1))) upcri_u32;
typedef uint64_t __attribute__((may_alias, aligned(1))) upcri_u64;
typedef float __attribute__((may_alias, aligned(1))) upcri_float;
typedef double __attribute__((may_alias, aligned(1))) upcri_double;

/* How far behind heap_begin it is, and whether loads and stores reach it there. `reach` ends 16 bytes before
 * the heap does: so long an access is inside if its first byte is. */
UPCR_INLINE uint64_t upcri_behind(upcr_shared_ptr_t p, ptrdiff_t offset) {
  return p.addr + (uint64_t)offset - upcr_job.heap_begin;
}
UPCR_INLINE int upcri_is_near(uint32_t thread, uint64_t behind) {
  return __builtin_expect(behind < upcr_job.reach[thread], 1);
}
/* The pointer again, for what is not reached so. (The compiler is not to see that it is p, and so to keep p's
 * address beside `behind` in every loop.) */
UPCR_INLINE upcr_shared_ptr_t upcri_at_behind(uint32_t thread, uint64_t behind) {
  __asm__("" : "+r"(behind));
  const upcr_shared_ptr_t p = {upcr_job.heap_begin + behind, thread, 0};
  return p;
}
UPCR_INLINE upcr_shared_ptr_t upcri_at(upcr_shared_ptr_t p, ptrdiff_t offset) {
  p.addr += (uint64_t)offset;
  return p;
}

UPCR_INLINE void upcri_load(void* to, const void* from, size_t nbytes) {
  switch (nbytes) {
  case 1:
    *(uint8_t*)to = *(const volatile uint8_t*)from;
    break;
  case 2:
    *(upcri_u16*)to = *(const volatile upcri_u16*)from;
    break;
  case 4:
    *(upcri_u32*)to = *(const volatile upcri_u32*)from;
    break;
  case 8:
    *(upcri_u64*)to = *(const volatile upcri_u64*)from;
    break;
  default:
    memcpy(to, from, nbytes);
  }
}
UPCR_INLINE void upcri_store(void* to, const void* from, size_t nbytes) {
  switch (nbytes) {
  case 1:
    *(volatile uint8_t*)to = *(const uint8_t*)from;
    break;
  case 2:
    *(volatile upcri_u16*)to = *(const upcri_u16*)from;
    break;
  case 4:
    *(volatile upcri_u32*)to = *(const upcri_u32*)from;
    break;
  case 8:
    *(volatile upcri_u64*)to = *(const upcri_u64*)from;
    break;
  default:
    memcpy(to, from, nbytes);
  }
}
/* The same where loads and stores do not reach, in calls that hand the bytes over in a register: the address
 * of a variable of the program leaves it only for more than 8 bytes, so that the others stay in registers. */
#define UPCRI_FAR static __attribute__((noinline, cold, unused))
/* Moves on what calls alone move on, every now and then: a poll takes as long as some hundred accesses. */
UPCR_INLINE void upcri_carry_on(void) {
  enum { accesses = 256 };
  static _Thread_local unsigned since;
  if (since++ % accesses == 0) weft_poll();
}
UPCRI_FAR uint64_t upcri_fetch(upcr_shared_ptr_t src, size_t nbytes) {
  const uint64_t behind = upcri_behind(src, 0);
  uint64_t bytes = 0;
  upcri_carry_on();
  if (behind < upcr_job.host[src.thread])
    upcri_load(&bytes, upcr_job.heaps[src.thread] + behind, nbytes);
  else
    upc_memget(&bytes, src, nbytes);
  return bytes;
}
UPCRI_FAR void upcri_send(upcr_shared_ptr_t dst, uint64_t bytes, size_t nbytes) {
  const uint64_t behind = upcri_behind(dst, 0);
  upcri_carry_on();
  if (behind < upcr_job.host[dst.thread])
    upcri_store(upcr_job.heaps[dst.thread] + behind, &bytes, nbytes);
  else
    upc_memput(dst, &bytes, nbytes);
}
/* What a loop has looked up for its accesses, in locals, which compilers keep in registers: the calling
 * thread's memory. Inside the walks of weftcc (forall.h) a variable of this name hides the one of the file,
 * whose reach is 0, and which compilers leave no test of. */
typedef struct upcri_here_t {
  uint64_t begin, reach; /* the calling thread's */
  unsigned char* heap;
  uint32_t thread;
  int once;
} upcri_here_t;
static const upcri_here_t upcri_here __attribute__((unused)) = {0, 0, NULL, 0, 0};
UPCR_INLINE int upcri_is_here(upcri_here_t here, uint32_t thread, uint64_t behind) {
  return __builtin_expect(thread == here.thread, 1) && __builtin_expect(behind < here.reach, 1);
}
UPCR_INLINE void upcri_get(void* dst, upcr_shared_ptr_t src, ptrdiff_t offset, size_t nbytes,
                           upcri_here_t here) {
  if (nbytes > 8) {
    upc_memget(dst, upcri_at(src, offset), nbytes);
    return;
  }
  const uint64_t own = src.addr + (uint64_t)offset - here.begin;
  if (upcri_is_here(here, src.thread, own)) {
    upcri_load(dst, here.heap + own, nbytes);
    return;
  }
  const uint64_t behind = upcri_behind(src, offset);
  if (upcri_is_near(src.thread, behind)) {
    upcri_load(dst, upcr_job.heaps[src.thread] + behind, nbytes);
  } else {
    const uint64_t bytes = upcri_fetch(upcri_at_behind(src.thread, behind), nbytes);
    memcpy(dst, &bytes, nbytes);
  }
}
UPCR_INLINE void upcri_put(upcr_shared_ptr_t dst, ptrdiff_t offset, const void* src, size_t nbytes,
                           upcri_here_t here) {
  if (nbytes > 8) {
    upc_memput(upcri_at(dst, offset), src, nbytes);
    return;
  }
  const uint64_t own = dst.addr + (uint64_t)offset - here.begin;
  if (upcri_is_here(here, dst.thread, own)) {
    upcri_store(here.heap + own, src, nbytes);
    return;
  }
  const uint64_t behind = upcri_behind(dst, offset);
  if (upcri_is_near(dst.thread, behind)) {
    upcri_store(upcr_job.heaps[dst.thread] + behind, src, nbytes);
  } else {
    uint64_t bytes = 0;
    memcpy(&bytes, src, nbytes);
    upcri_send(upcri_at_behind(dst.thread, behind), bytes, nbytes);
  }
}
/* The same of a float or a double, by a load to or a store from its own register. */
#define UPCRI_OF_TYPE(of)                                                                                    \
  UPCR_INLINE void upcri_load_##of(of* to, const void* from, size_t nbytes) {                                \
    if (nbytes == sizeof *to)                                                                                \
      *to = *(const volatile upcri_##of*)from;                                                               \
    else                                                                                                     \
      upcri_load(to, from, nbytes);                                                                          \
  }                                                                                                          \
  UPCR_INLINE void upcri_store_##of(void* to, const of* from, size_t nbytes) {                               \
    if (nbytes == sizeof *from)                                                                              \
      *(volatile upcri_##of*)to = *from;                                                                     \
    else                                                                                                     \
      upcri_store(to, from, nbytes);                                                                         \
  }                                                                                                          \
  UPCR_INLINE void upcri_get_##of(of* dst, upcr_shared_ptr_t src, ptrdiff_t offset, size_t nbytes,           \
                                  upcri_here_t here) {                                                       \
    const uint64_t own = src.addr + (uint64_t)offset - here.begin;                                           \
    if (nbytes == sizeof *dst && upcri_is_here(here, src.thread, own)) {                                     \
      *dst = *(const volatile upcri_##of*)(here.heap + own);                                                 \
      return;                                                                                                \
    }                                                                                                        \
    const uint64_t behind = upcri_behind(src, offset);                                                       \
    if (nbytes == sizeof *dst && upcri_is_near(src.thread, behind))                                          \
      *dst = *(const volatile upcri_##of*)(upcr_job.heaps[src.thread] + behind);                             \
    else                                                                                                     \
      upcri_get(dst, src, offset, nbytes, upcri_here);                                                       \
  }                                                                                                          \
  UPCR_INLINE void upcri_put_##of(upcr_shared_ptr_t dst, ptrdiff_t offset, const of* src, size_t nbytes,     \
                                  upcri_here_t here) {                                                       \
    const uint64_t own = dst.addr + (uint64_t)offset - here.begin;                                           \
    if (nbytes == sizeof *src && upcri_is_here(here, dst.thread, own)) {                                     \
      *(volatile upcri_##of*)(here.heap + own) = *src;                                                       \
      return;                                                                                                \
    }                                                                                                        \
    const uint64_t behind = upcri_behind(dst, offset);                                                       \
    if (nbytes == sizeof *src && upcri_is_near(dst.thread, behind))                                          \
      *(volatile upcri_##of*)(upcr_job.heaps[dst.thread] + behind) = *src;                                   \
    else                                                                                                     \
      upcri_put(dst, offset, src, nbytes, upcri_here);                                                       \
  }                                                                                                          \
  UPCR_INLINE of upcri_get_##of##val(upcr_shared_ptr_t src, ptrdiff_t offset, upcri_here_t here) {           \
    of value;                                                                                                \
    upcri_get_##of(&value, src, offset, sizeof value, here);                                                 \
    return value;                                                                                            \
  }                                                                                                          \
  UPCR_INLINE void upcri_put_##of##val(upcr_shared_ptr_t dst, ptrdiff_t offset, of value,                    \
                                       upcri_here_t here) {                                                  \
    upcri_put_##of(dst, offset, &value, sizeof value, here);                                                 \
  }
UPCRI_OF_TYPE(float)
UPCRI_OF_TYPE(double)
/* The low bytes of a register value, in memory. */
UPCR_INLINE const void* upcri_low(const upcr_register_value_t* value, size_t nbytes) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return (const char*)value + (sizeof *value - nbytes);
#else
  (void)nbytes;
  return value;
#endif
}
UPCR_INLINE upcr_register_value_t upcri_get_val(upcr_shared_ptr_t src, ptrdiff_t offset, size_t nbytes,
                                                upcri_here_t here) {
  upcr_register_value_t value = 0;
  upcri_get((void*)upcri_low(&value, nbytes), src, offset, nbytes, here);
  return value;
}
UPCR_INLINE void upcri_put_val(upcr_shared_ptr_t dst, ptrdiff_t offset, upcr_register_value_t value,
                               size_t nbytes, upcri_here_t here) {
  upcri_put(dst, offset, upcri_low(&value, nbytes), nbytes, here);
}
UPCR_INLINE upcr_register_value_t upcri_load_val(const void* from, size_t nbytes) {
  upcr_register_value_t value = 0;
  upcri_load((void*)upcri_low(&value, nbytes), from, nbytes);
  return value;
}
UPCR_INLINE void upcri_store_val(void* to, upcr_register_value_t value, size_t nbytes) {
  upcri_store(to, upcri_low(&value, nbytes), nbytes);
}

/* Strict and relaxed forms, for pointers with and without a phase. NAME ends in _shared or _pshared; AROUND
 * stands in front of the access and behind it. */
#define UPCRI_RELAXED
#define UPCRI_STRICT (void)weft_fence();
#define UPCRI_BLOCKING(kind, type, strict, AROUND)                                                           \
  UPCR_INLINE void upcr_get_##kind##strict(void* dst, type src, ptrdiff_t srcoffset, size_t nbytes) {        \
    AROUND upcri_get(dst, src, srcoffset, nbytes, upcri_here);                                               \
    AROUND                                                                                                   \
  }                                                                                                          \
  UPCR_INLINE void upcr_put_##kind##strict(type dst, ptrdiff_t dstoffset, const void* src, size_t nbytes) {  \
    AROUND upcri_put(dst, dstoffset, src, nbytes, upcri_here);                                               \
    AROUND                                                                                                   \
  }                                                                                                          \
  UPCR_INLINE upcr_register_value_t upcr_get_##kind##_val##strict(type src, ptrdiff_t srcoffset,             \
                                                                  size_t nbytes) {                           \
    AROUND const upcr_register_value_t value = upcri_get_val(src, srcoffset, nbytes, upcri_here);            \
    AROUND return value;                                                                                     \
  }                                                                                                          \
  UPCR_INLINE void upcr_put_##kind##_val##strict(type dst, ptrdiff_t dstoffset, upcr_register_value_t value, \
                                                 size_t nbytes) {                                            \
    AROUND upcri_put_val(dst, dstoffset, value, nbytes, upcri_here);                                         \
    AROUND                                                                                                   \
  }                                                                                                          \
  UPCRI_FLOATING(kind, type, strict, AROUND, float)                                                          \
  UPCRI_FLOATING(kind, type, strict, AROUND, double)
#define UPCRI_FLOATING(kind, type, strict, AROUND, of)                                                       \
  UPCR_INLINE of upcr_get_##kind##_##of##val##strict(type src, ptrdiff_t srcoffset) {                        \
    AROUND const of value = upcri_get_##of##val(src, srcoffset, upcri_here);                                 \
    AROUND return value;                                                                                     \
  }                                                                                                          \
  UPCR_INLINE void upcr_put_##kind##_##of##val##strict(type dst, ptrdiff_t dstoffset, of value) {            \
    AROUND upcri_put_##of##val(dst, dstoffset, value, upcri_here);                                           \
    AROUND                                                                                                   \
  }
UPCRI_BLOCKING(shared, upcr_shared_ptr_t, , UPCRI_RELAXED)
UPCRI_BLOCKING(shared, upcr_shared_ptr_t, _strict, UPCRI_STRICT)
UPCRI_BLOCKING(pshared, upcr_pshared_ptr_t, , UPCRI_RELAXED)
UPCRI_BLOCKING(pshared, upcr_pshared_ptr_t, _strict, UPCRI_STRICT)

/* Copies that go on by themselves: the handle is for upcr_wait_syncnb and upcr_try_syncnb, until when neither
 * end may be touched. The implicit forms (nbi) are for upcr_wait_syncnbi_..., inside an access region for the
 * handle that its end returns. */
WEFT_EXPORT void upcr_nbi_memget(void* dst, upcr_shared_ptr_t src, size_t nbytes);
WEFT_EXPORT void upcr_nbi_memput(upcr_shared_ptr_t dst, const void* src, size_t nbytes);
WEFT_EXPORT void upcr_nbi_memcpy(upcr_shared_ptr_t dst, upcr_shared_ptr_t src, size_t nbytes);
WEFT_EXPORT void upcr_nbi_memset(upcr_shared_ptr_t dst, int c, size_t nbytes);

/* A value on its way, which upcr_wait_syncnb_valget returns, once. */
WEFT_EXPORT upcr_valget_handle_t upcri_begin_value(upcr_shared_ptr_t src, size_t nbytes);
WEFT_EXPORT upcr_register_value_t upcr_wait_syncnb_valget(upcr_valget_handle_t value);

#define UPCRI_NONBLOCKING(kind, type, strict, AROUND)                                                        \
  UPCR_INLINE upcr_handle_t upcr_get_nb_##kind##strict(void* dst, type src, ptrdiff_t srcoffset,             \
                                                       size_t nbytes) {                                      \
    AROUND return upc_memget_nb(dst, upcri_at(src, srcoffset), nbytes);                                      \
  }                                                                                                          \
  UPCR_INLINE upcr_handle_t upcr_put_nb_##kind##strict(type dst, ptrdiff_t dstoffset, const void* src,       \
                                                       size_t nbytes) {                                      \
    AROUND return upc_memput_nb(upcri_at(dst, dstoffset), src, nbytes);                                      \
  }                                                                                                          \
  /* The value is the caller's no longer, so it is in place when this returns. */                            \
  UPCR_INLINE upcr_handle_t upcr_put_nb_##kind##_val##strict(type dst, ptrdiff_t dstoffset,                  \
                                                             upcr_register_value_t value, size_t nbytes) {   \
    AROUND upcri_put_val(dst, dstoffset, value, nbytes, upcri_here);                                         \
    return UPC_COMPLETE_HANDLE;                                                                              \
  }
UPCRI_NONBLOCKING(shared, upcr_shared_ptr_t, , UPCRI_RELAXED)
UPCRI_NONBLOCKING(shared, upcr_shared_ptr_t, _strict, UPCRI_STRICT)
UPCRI_NONBLOCKING(pshared, upcr_pshared_ptr_t, , UPCRI_RELAXED)
UPCRI_NONBLOCKING(pshared, upcr_pshared_ptr_t, _strict, UPCRI_STRICT)

#define UPCRI_IMPLICIT(kind, type)                                                                           \
  UPCR_INLINE void upcr_get_nbi_##kind(void* dst, type src, ptrdiff_t srcoffset, size_t nbytes) {            \
    upcr_nbi_memget(dst, upcri_at(src, srcoffset), nbytes);                                                  \
  }                                                                                                          \
  UPCR_INLINE void upcr_put_nbi_##kind(type dst, ptrdiff_t dstoffset, const void* src, size_t nbytes) {      \
    upcr_nbi_memput(upcri_at(dst, dstoffset), src, nbytes);                                                  \
  }                                                                                                          \
  UPCR_INLINE upcr_valget_handle_t upcr_get_nb_##kind##_val(type src, ptrdiff_t srcoffset, size_t nbytes) {  \
    return upcri_begin_value(upcri_at(src, srcoffset), nbytes);                                              \
  }
UPCRI_IMPLICIT(shared, upcr_shared_ptr_t)
UPCRI_IMPLICIT(pshared, upcr_pshared_ptr_t)

/* Completion: of one, of all or of at least one of several, by waiting or by looking. What is complete of
 * several is set to UPCR_INVALID_HANDLE. The tries return 1 if what they ask for is complete, else 0. Errors
 * of all: a handle that was never issued; what the copy failed with. */
WEFT_EXPORT void upcr_wait_syncnb(upcr_handle_t handle);
WEFT_EXPORT int upcr_try_syncnb(upcr_handle_t handle);
WEFT_EXPORT void upcr_wait_syncnb_strict(upcr_handle_t handle);
WEFT_EXPORT int upcr_try_syncnb_strict(upcr_handle_t handle);
WEFT_EXPORT void upcr_wait_syncnb_all(upcr_handle_t* handles, size_t count);
WEFT_EXPORT int upcr_try_syncnb_all(upcr_handle_t* handles, size_t count);
WEFT_EXPORT void upcr_wait_syncnb_some(upcr_handle_t* handles, size_t count);
WEFT_EXPORT int upcr_try_syncnb_some(upcr_handle_t* handles, size_t count);
WEFT_EXPORT void upcr_wait_syncnbi_gets(void);
WEFT_EXPORT void upcr_wait_syncnbi_puts(void);
WEFT_EXPORT void upcr_wait_syncnbi_all(void);
WEFT_EXPORT int upcr_try_syncnbi_gets(void);
WEFT_EXPORT int upcr_try_syncnbi_puts(void);
WEFT_EXPORT int upcr_try_syncnbi_all(void);
/* Errors: a region in a region; an end without a beginning. */
WEFT_EXPORT void upcr_begin_nbi_accessregion(void);
WEFT_EXPORT upcr_handle_t upcr_end_nbi_accessregion(void);

UPCR_INLINE void upcr_memget(void* dst, upcr_shared_ptr_t src, size_t nbytes) {
  upc_memget(dst, src, nbytes);
}
UPCR_INLINE void upcr_memput(upcr_shared_ptr_t dst, const void* src, size_t nbytes) {
  upc_memput(dst, src, nbytes);
}
UPCR_INLINE void upcr_memcpy(upcr_shared_ptr_t dst, upcr_shared_ptr_t src, size_t nbytes) {
  upc_memcpy(dst, src, nbytes);
}
UPCR_INLINE void upcr_memset(upcr_shared_ptr_t dst, int c, size_t nbytes) {
  upc_memset(dst, c, nbytes);
}
UPCR_INLINE upcr_handle_t upcr_nb_memget(void* dst, upcr_shared_ptr_t src, size_t nbytes) {
  return upc_memget_nb(dst, src, nbytes);
}
UPCR_INLINE upcr_handle_t upcr_nb_memput(upcr_shared_ptr_t dst, const void* src, size_t nbytes) {
  return upc_memput_nb(dst, src, nbytes);
}
UPCR_INLINE upcr_handle_t upcr_nb_memcpy(upcr_shared_ptr_t dst, upcr_shared_ptr_t src, size_t nbytes) {
  return upc_memcpy_nb(dst, src, nbytes);
}
UPCR_INLINE upcr_handle_t upcr_nb_memset(upcr_shared_ptr_t dst, int c, size_t nbytes) {
  return upc_memset_nb(dst, c, nbytes);
}
