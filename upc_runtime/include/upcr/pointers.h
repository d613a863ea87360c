// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#ifdef __cplusplus
#error "upcr.h is what translated UPC programs include, and they are C; the way in from C++ is weft/weft.hpp"
#endif
#include <stddef.h>
#include <stdint.h>
#include <upc.h>
#include <upc_castable.h>

/* Pointers-to-shared of translated programs, and their arithmetic. Source: the runtime specification of
 * Berkeley UPC, shared pointers.
 *
 * Both kinds are Weft's: 16 bytes, the address first, then 32 bits of thread and 32 bits of phase. A
 * phaseless pointer has the phase 0 at all times, so each is the other without a conversion. Increments are
 * in elements of `elemsz` bytes and may be negative; `blockelems` is the block size, in elements and never 0.
 */
typedef upc_shared_ptr_t upcr_shared_ptr_t;
typedef upc_shared_ptr_t upcr_pshared_ptr_t;
typedef unsigned int upcr_thread_t;
typedef size_t upcr_phase_t;

#define UPCR_NULL_SHARED                                                                                     \
  { 0, 0, 0 }
#define UPCR_NULL_PSHARED                                                                                    \
  { 0, 0, 0 }
/* What a variable is set to that has an initialiser: upcr_startup_shalloc then leaves out the zeros. */
#define UPCR_INITIALIZED_SHARED                                                                              \
  { 0, 0, 1 }
#define UPCR_INITIALIZED_PSHARED                                                                             \
  { 0, 0, 1 }
#define UPCR_MAX_BLOCKSIZE UINT32_MAX

#define UPCR_INLINE static inline
/* The job, as main found it; it stays as it is, so that compilers may keep over a call what they have read of
 * it. `log2_threads` is negative if the number of threads is no power of two. Then `reciprocal` is 2^64 /
 * threads, rounded up, and `dividends` the same rounded down, else 0: for n below it the upper half of
 * n * reciprocal is n / threads, rounded down. For reciprocal = (2^64 + e) / threads with 0 < e < threads, so
 * n * reciprocal / 2^64 = (n + n * e / 2^64) / threads; and as n * e < 2^64, what is added to n is less than
 * 1, and n does not come to the next multiple of threads. An index is below 2^64 / threads as long as it is
 * an element of an array of less than 2^64 / threads^2 elements on each thread; beyond, and for negative
 * ones, is a division. What a thread has from heap_begin on is reached by loads and stores for reach[thread]
 * bytes, which is 0 for a thread of another host, and for all where every access is to be looked at;
 * heaps[thread] is where it begins (weft/direct.h). `host` is the same, and stays: `reach` is 0 for all while
 * accesses are to carry on what is under way (weft_reach). */
typedef struct upcr_job_t {
  uint32_t mythread, threads;
  int32_t log2_threads;
  uint64_t reciprocal, dividends;
  uint64_t heap_begin;
  const uint64_t *reach, *host;
  unsigned char* const* heaps;
} upcr_job_t;
#ifdef UPCRI_SETS_JOB /* in the library */
extern WEFT_EXPORT upcr_job_t upcr_job;
#else
extern WEFT_EXPORT const upcr_job_t upcr_job;
#endif
extern WEFT_EXPORT const upcr_shared_ptr_t upcr_null_shared, upcr_null_pshared;

UPCR_INLINE upcr_thread_t upcr_mythread(void) {
  return upcr_job.mythread;
}
UPCR_INLINE upcr_thread_t upcr_threads(void) {
#ifdef __UPC_STATIC_THREADS__ /* upcr_begin has compared it with the job */
  return __UPC_STATIC_THREADS__;
#else
  return upcr_job.threads;
#endif
}

UPCR_INLINE int upcr_isnull_shared(upcr_shared_ptr_t p) {
  return p.addr == 0 && p.thread == 0;
}
UPCR_INLINE upcr_thread_t upcr_threadof_shared(upcr_shared_ptr_t p) {
  return p.thread;
}
UPCR_INLINE size_t upcr_phaseof_shared(upcr_shared_ptr_t p) {
  return p.phase;
}
UPCR_INLINE uintptr_t upcr_addrfield_shared(upcr_shared_ptr_t p) {
  return (uintptr_t)p.addr;
}
UPCR_INLINE void upcr_setnull_shared(upcr_shared_ptr_t* p) {
  *p = upcr_null_shared;
}
UPCR_INLINE upcr_shared_ptr_t upcr_shared_resetphase(upcr_shared_ptr_t p) {
  p.phase = 0;
  return p;
}
UPCR_INLINE int upcr_hasMyAffinity_shared(upcr_shared_ptr_t p) {
  return p.thread == upcr_job.mythread;
}
UPCR_INLINE int upcr_hasAffinity_shared(upcr_shared_ptr_t p, upcr_thread_t thread) {
  return p.thread == thread;
}
/* Whether it is what UPCR_INITIALIZED_SHARED is. */
UPCR_INLINE int upcr_is_init_shared(upcr_shared_ptr_t p) {
  return p.addr == 0 && p.thread == 0 && p.phase == 1;
}
/* Whether the two have one target; the phases do not count (UPC 1.3, 6.4.2). */
UPCR_INLINE int upcr_isequal_shared_shared(upcr_shared_ptr_t a, upcr_shared_ptr_t b) {
  return a.addr == b.addr && a.thread == b.thread;
}
/* Whether the pointer is null, or of a thread that there is. */
UPCR_INLINE int upcr_isvalid_shared(upcr_shared_ptr_t p) {
  return upcr_isnull_shared(p) || (p.addr != 0 && p.thread < upcr_job.threads);
}

UPCR_INLINE int upcr_isnull_pshared(upcr_pshared_ptr_t p) {
  return upcr_isnull_shared(p);
}
UPCR_INLINE upcr_thread_t upcr_threadof_pshared(upcr_pshared_ptr_t p) {
  return p.thread;
}
UPCR_INLINE size_t upcr_phaseof_pshared(upcr_pshared_ptr_t p) {
  (void)p;
  return 0;
}
UPCR_INLINE uintptr_t upcr_addrfield_pshared(upcr_pshared_ptr_t p) {
  return (uintptr_t)p.addr;
}
UPCR_INLINE void upcr_setnull_pshared(upcr_pshared_ptr_t* p) {
  *p = upcr_null_pshared;
}
UPCR_INLINE int upcr_hasMyAffinity_pshared(upcr_pshared_ptr_t p) {
  return p.thread == upcr_job.mythread;
}
UPCR_INLINE int upcr_hasAffinity_pshared(upcr_pshared_ptr_t p, upcr_thread_t thread) {
  return p.thread == thread;
}
UPCR_INLINE int upcr_is_init_pshared(upcr_pshared_ptr_t p) {
  return upcr_is_init_shared(p);
}
UPCR_INLINE int upcr_isequal_pshared_pshared(upcr_pshared_ptr_t a, upcr_pshared_ptr_t b) {
  return upcr_isequal_shared_shared(a, b);
}
UPCR_INLINE int upcr_isequal_shared_pshared(upcr_shared_ptr_t a, upcr_pshared_ptr_t b) {
  return upcr_isequal_shared_shared(a, b);
}
UPCR_INLINE int upcr_isequal_pshared_shared(upcr_pshared_ptr_t a, upcr_shared_ptr_t b) {
  return upcr_isequal_shared_shared(a, b);
}
UPCR_INLINE int upcr_isvalid_pshared(upcr_pshared_ptr_t p) {
  return p.phase == 0 && upcr_isvalid_shared(p);
}
UPCR_INLINE upcr_pshared_ptr_t upcr_shared_to_pshared(upcr_shared_ptr_t p) {
  return upcr_shared_resetphase(p);
}
UPCR_INLINE upcr_shared_ptr_t upcr_pshared_to_shared(upcr_pshared_ptr_t p) {
  return p;
}

/* The same in place, and with a phase that the caller names. */
UPCR_INLINE void upcr_shared_resetphase_ref(upcr_shared_ptr_t* p) {
  p->phase = 0;
}
UPCR_INLINE void upcr_shared_to_pshared_ref(upcr_shared_ptr_t p, upcr_pshared_ptr_t* result) {
  *result = upcr_shared_to_pshared(p);
}
UPCR_INLINE void upcr_pshared_to_shared_ref(upcr_pshared_ptr_t p, upcr_shared_ptr_t* result) {
  *result = p;
}
UPCR_INLINE upcr_shared_ptr_t upcr_pshared_to_shared_withphase(upcr_pshared_ptr_t p, upcr_phase_t phase) {
  p.phase = (uint32_t)phase;
  return p;
}
UPCR_INLINE void upcr_pshared_to_shared_ref_withphase(upcr_pshared_ptr_t p, upcr_phase_t phase,
                                                      upcr_shared_ptr_t* result) {
  *result = upcr_pshared_to_shared_withphase(p, phase);
}

/* n / threads, rounded down, and what is left. */
__extension__ typedef unsigned __int128 upcri_product;
UPCR_INLINE int64_t upcri_rounds(int64_t n, uint32_t* left) {
  const int64_t threads = upcr_threads();
  uint64_t dividend = (uint64_t)n, rounds;
#ifdef __UPC_STATIC_THREADS__ /* the compiler knows a short way */
  if (__builtin_expect(n >= 0, 1)) {
    rounds = dividend / (uint64_t)threads;
#else
  if (dividend < upcr_job.dividends) {
    __asm__(""
            : "+r"(dividend)); /* else gcc 12 makes a product with a sign of it, in twice the instructions */
    rounds = (uint64_t)((upcri_product)dividend * upcr_job.reciprocal >> 64);
  } else if (__builtin_expect(upcr_job.log2_threads >= 0, 1)) {
    *left = (uint32_t)n & (upcr_job.threads - 1);
    return n >> upcr_job.log2_threads;
#endif
  } else {
    rounds = (uint64_t)(n / threads - (n % threads < 0));
  }
  *left = (uint32_t)dividend - (uint32_t)rounds * (uint32_t)threads;
  return (int64_t)rounds;
}

/* p + inc for blocks of one element. */
UPCR_INLINE upcr_pshared_ptr_t upcr_add_pshared1(upcr_pshared_ptr_t p, size_t elemsz, ptrdiff_t inc) {
  const int64_t rounds = upcri_rounds((int64_t)p.thread + inc, &p.thread);
  p.addr += (uint64_t)rounds * elemsz;
  return p;
}
/* p + inc for an indefinite block: the thread stays. */
UPCR_INLINE upcr_pshared_ptr_t upcr_add_psharedI(upcr_pshared_ptr_t p, size_t elemsz, ptrdiff_t inc) {
  p.addr += (uint64_t)inc * elemsz;
  return p;
}
/* p + inc: the phase moves first, then the thread, then the address. */
UPCR_INLINE upcr_shared_ptr_t upcr_add_shared(upcr_shared_ptr_t p, size_t elemsz, ptrdiff_t inc,
                                              size_t blockelems) {
  const int64_t size = (int64_t)blockelems, place = (int64_t)p.phase + inc;
  if ((uint64_t)place < blockelems) { /* in the same block */
    p.addr += (uint64_t)inc * elemsz;
    p.phase = (uint32_t)place;
    return p;
  }
  const int64_t blocks = place >= 0 ? (int64_t)((uint64_t)place / blockelems) : -((size - 1 - place) / size);
  const int64_t phase = place - blocks * size;
  const int64_t rounds = upcri_rounds((int64_t)p.thread + blocks, &p.thread);
  p.addr += (uint64_t)(rounds * size + phase - (int64_t)p.phase) * elemsz;
  p.phase = (uint32_t)phase;
  return p;
}
UPCR_INLINE void upcr_inc_shared(upcr_shared_ptr_t* p, size_t elemsz, ptrdiff_t inc, size_t blockelems) {
  *p = upcr_add_shared(*p, elemsz, inc, blockelems);
}
/* A loop waits for each step of its pointer, so small steps forward, to the next round at most, go without a
 * division. */
UPCR_INLINE void upcr_inc_pshared1(upcr_pshared_ptr_t* p, size_t elemsz, ptrdiff_t inc) {
  const uint64_t threads = upcr_threads(), to = p->thread + (uint64_t)inc, behind = to - threads;
  if (to < threads) {
    p->thread = (uint32_t)to;
  } else if (behind < threads) {
    p->thread = (uint32_t)behind;
    p->addr += elemsz;
  } else {
    *p = upcr_add_pshared1(*p, elemsz, inc);
  }
}
UPCR_INLINE void upcr_inc_psharedI(upcr_pshared_ptr_t* p, size_t elemsz, ptrdiff_t inc) {
  *p = upcr_add_psharedI(*p, elemsz, inc);
}

/* a - b in elements, of two pointers into one array. */
UPCR_INLINE ptrdiff_t upcr_sub_psharedI(upcr_pshared_ptr_t a, upcr_pshared_ptr_t b, size_t elemsz) {
  return (int64_t)(a.addr - b.addr) / (int64_t)elemsz;
}
UPCR_INLINE ptrdiff_t upcr_sub_pshared1(upcr_pshared_ptr_t a, upcr_pshared_ptr_t b, size_t elemsz) {
  return upcr_sub_psharedI(a, b, elemsz) * (ptrdiff_t)upcr_threads() + (ptrdiff_t)a.thread -
         (ptrdiff_t)b.thread;
}
UPCR_INLINE ptrdiff_t upcr_sub_shared(upcr_shared_ptr_t a, upcr_shared_ptr_t b, size_t elemsz,
                                      size_t blockelems) {
  const int64_t phases = (int64_t)a.phase - (int64_t)b.phase, size = (int64_t)blockelems;
  const int64_t rounds = ((int64_t)(a.addr - b.addr) / (int64_t)elemsz - phases) / size;
  const int64_t threads = (int64_t)a.thread - (int64_t)b.thread;
  return (rounds * (int64_t)upcr_threads() + threads) * size + phases;
}

/* The address of an object of this thread, or of one of its host. Errors: the target is on another host. */
WEFT_EXPORT void* upcr_shared_to_local(upcr_shared_ptr_t p);
UPCR_INLINE void* upcr_pshared_to_local(upcr_pshared_ptr_t p) {
  return upcr_shared_to_local(p);
}
#define upcr_shared_to_processlocal(p) upcr_shared_to_local(p)
#define upcr_pshared_to_processlocal(p) upcr_pshared_to_local(p)
/* The pointer to an object of this host by its address: null if it is not in shared memory. */
WEFT_EXPORT upcr_shared_ptr_t bupc_inverse_cast(void* local);
/* The same with a thread and a phase that the caller names: of memory of its own. */
WEFT_EXPORT upcr_shared_ptr_t bupc_local_to_shared(void* local, int thread, int phase);
/* The pointer to memory of the calling thread, null to null; where `thread` is named, to what that thread has
 * at the place: local is an address of its memory (upcr_local_to_shared_withphase), or of the calling
 * thread's (upcr_mylocal_to_shared_withphase). */
UPCR_INLINE upcr_shared_ptr_t upcr_mylocal_to_shared_withphase(void* local, upcr_phase_t phase,
                                                               upcr_thread_t thread) {
  return local == NULL ? upcr_null_shared : bupc_local_to_shared(local, (int)thread, (int)phase);
}
UPCR_INLINE upcr_shared_ptr_t upcr_local_to_shared_withphase(void* local, upcr_phase_t phase,
                                                             upcr_thread_t thread) {
  upcr_shared_ptr_t p = local == NULL ? upcr_null_shared : bupc_inverse_cast(local);
  if (upcr_isnull_shared(p)) return p;
  p.thread = thread;
  p.phase = (uint32_t)phase;
  return p;
}
UPCR_INLINE void upcr_local_to_shared_ref_withphase(void* local, upcr_phase_t phase, upcr_thread_t thread,
                                                    upcr_shared_ptr_t* result) {
  *result = upcr_local_to_shared_withphase(local, phase, thread);
}
UPCR_INLINE upcr_shared_ptr_t upcr_local_to_shared(void* local) {
  return upcr_mylocal_to_shared_withphase(local, 0, upcr_job.mythread);
}
UPCR_INLINE upcr_pshared_ptr_t upcr_local_to_pshared(void* local) {
  return upcr_local_to_shared(local);
}
UPCR_INLINE void upcr_local_to_shared_ref(void* local, upcr_shared_ptr_t* result) {
  *result = upcr_local_to_shared(local);
}
UPCR_INLINE void upcr_local_to_pshared_ref(void* local, upcr_pshared_ptr_t* result) {
  *result = upcr_local_to_shared(local);
}
/* Whether the target is the calling thread's own, and at that address; null equals null. */
UPCR_INLINE int upcr_isequal_shared_local(upcr_shared_ptr_t p, void* local) {
  if (upcr_isnull_shared(p) || local == NULL) return upcr_isnull_shared(p) && local == NULL;
  return upcr_hasMyAffinity_shared(p) && upcr_shared_to_local(p) == local;
}
UPCR_INLINE int upcr_isequal_pshared_local(upcr_pshared_ptr_t p, void* local) {
  return upcr_isequal_shared_local(p, local);
}
UPCR_INLINE upc_thread_info_t upcr_thread_info(size_t thread) {
  return upc_thread_info(thread);
}
UPCR_INLINE size_t upcr_affinitysize(size_t totalsize, size_t nbytes, size_t threadid) {
  return upc_affinitysize(totalsize, nbytes, threadid);
}
