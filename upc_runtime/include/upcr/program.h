// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "accesses.h"

/* A translated program: its shared data, its beginning and its end, barriers and locks. Source: the runtime
 * specification of Berkeley UPC, initialisation, synchronisation and allocation.
 *
 * Of each file the translator makes two functions: one allocates the file's shared data, the other gives it
 * its initial values. UPCR_UNIT(name, major, minor, threads), which weftcc writes behind the file, lists them
 * with the specification that the file wants, and with the threads that it was compiled for, 0 for any
 * number. upcr_main.h makes a main of all units. */
#define UPCR_RUNTIME_SPEC_MAJOR 3
#define UPCR_RUNTIME_SPEC_MINOR 14

typedef struct upcr_unit_t {
  const char* name;
  void (*allocate)(void);
  void (*initialize)(void);
  int major, minor, threads;
} upcr_unit_t;
/* Between two units in the section there may be room, which is null. */
#define UPCR_UNIT(unit, want_major, want_minor, want_threads)                                                \
  _Static_assert(UPCR_SHARED_SIZE_ == sizeof(upcr_shared_ptr_t) &&                                           \
                     UPCR_PSHARED_SIZE_ == sizeof(upcr_pshared_ptr_t),                                       \
                 "translated for pointers-to-shared of another size: let the translator make 16 bytes");     \
  const upcr_unit_t upcr_unit_##unit = {#unit,      UPCRI_ALLOC_##unit, UPCRI_INIT_##unit,                   \
                                        want_major, want_minor,         want_threads};                       \
  static const upcr_unit_t* const upcri_listed_##unit __attribute__((section("weft_upc_units"), used)) =     \
      &upcr_unit_##unit;

/* Allocates the shared data of the units and gives it its initial values. Collective, after weft_init. Ends
 * the job with one line if a unit wants another runtime, other threads, or more shared memory than there is.
 * upcr_run calls it. */
WEFT_EXPORT void upcr_begin(const upcr_unit_t* const* units, size_t count);

/* The static shared data of objects that GUPC and clang-upc have compiled: a section of the program, of which
 * every thread has a copy, and functions that write the initial values. The compiler takes the address of a
 * variable for its address in shared memory, so the section is linked to such addresses (weftcc):
 * UPCR_IMAGE_ADDRESS and more. */
#define UPCR_IMAGE_ADDRESS 0x14000000
typedef struct upcr_image_t {
  uintptr_t address; /* of the section */
  size_t bytes;
  const void* contents; /* its bytes */
  void (*const* initialize)(void);
  size_t functions;
} upcr_image_t;
/* Puts the section into shared memory, at its address, and calls the functions. Collective. The result is
 * what upc_all_free frees, null for an empty section. Errors: the heap does not reach so far. */
WEFT_EXPORT upcr_shared_ptr_t upcr_place_image(const upcr_image_t* image);

/* What a program does: weft_init, upcr_begin, upcr_place_image, the user's main, weft_finalize behind the
 * main of all threads. Returns what main returned; a thread that leaves by exit() takes its part in the end
 * too. */
typedef struct upcr_program_t {
  const upcr_unit_t* const* units;
  size_t count;
  upcr_image_t image;
  int (*user_main)(int, char**);
  int threads; /* that compiled objects are for, 0 for any number */
} upcr_program_t;
WEFT_EXPORT int upcr_run(const upcr_program_t* program, int argc, char** argv);

/* Static shared data. An array of numblocks blocks, times THREADS if mult_by_threads is not 0, of blockbytes
 * bytes each; the last three are for messages. */
typedef struct upcr_startup_shalloc_t {
  upcr_shared_ptr_t* sptr_addr;
  size_t blockbytes, numblocks;
  int mult_by_threads;
  size_t elemsz;
  const char *namestr, *typestr;
} upcr_startup_shalloc_t;
typedef struct upcr_startup_pshalloc_t {
  upcr_pshared_ptr_t* psptr_addr;
  size_t blockbytes, numblocks;
  int mult_by_threads;
  size_t elemsz;
  const char *namestr, *typestr;
} upcr_startup_pshalloc_t;
#define UPCRT_STARTUP_SHALLOC(sptr, blockbytes, numblocks, mult_by_threads, elemsz, typestr)                 \
  { &(sptr), (blockbytes), (numblocks), (mult_by_threads), (elemsz), #sptr, (typestr) }
#define UPCRT_STARTUP_PSHALLOC UPCRT_STARTUP_SHALLOC
/* Collective: allocates what has no memory yet, filled with zeros unless it is UPCR_INITIALIZED_SHARED. Other
 * threads may be told later: there is no barrier in it. */
WEFT_EXPORT void upcr_startup_shalloc(upcr_startup_shalloc_t* infos, size_t count);
WEFT_EXPORT void upcr_startup_pshalloc(upcr_startup_pshalloc_t* infos, size_t count);

/* One dimension of an array with an initialiser: the elements of the private array that has the values, and
 * of the shared one, times THREADS if mult_by_threads is not 0. */
typedef struct upcr_startup_arrayinit_diminfo_t {
  size_t local_elems, shared_elems;
  int mult_by_threads;
} upcr_startup_arrayinit_diminfo_t;
/* Collective: each thread copies the values of its own elements, and zeros where the private array ends. A
 * null src: zeros. blockelems 0 stands for an indefinite block. */
WEFT_EXPORT void upcr_startup_initarray(upcr_shared_ptr_t dst, const void* src,
                                        const upcr_startup_arrayinit_diminfo_t* dims, size_t dimcnt,
                                        size_t elembytes, size_t blockelems);
UPCR_INLINE void upcr_startup_initparray(upcr_pshared_ptr_t dst, const void* src,
                                         const upcr_startup_arrayinit_diminfo_t* dims, size_t dimcnt,
                                         size_t elembytes, size_t blockelems) {
  upcr_startup_initarray(dst, src, dims, dimcnt, elembytes, blockelems);
}

/* Barriers. The value is compared with those of the other threads, unless the flag says that there is none.
 */
#define UPCR_BARRIERFLAG_ANONYMOUS 1
WEFT_EXPORT void upcr_notify(int barrierval, int flags);
WEFT_EXPORT void upcr_wait(int barrierval, int flags);
/* 1 if the wait would not have to wait, and it is done then; else 0. */
WEFT_EXPORT int upcr_try_wait(int barrierval, int flags);
UPCR_INLINE void upcr_barrier(int barrierval, int flags) {
  upcr_notify(barrierval, flags);
  upcr_wait(barrierval, flags);
}
/* upc_fence, which lets the library carry on what is outstanding, too: programs wait by it for a flag. */
UPCR_INLINE void upcr_poll(void) {
  (void)weft_fence();
  weft_poll();
}

UPCR_INLINE upcr_shared_ptr_t upcr_alloc(size_t nbytes) {
  return upc_alloc(nbytes);
}
UPCR_INLINE upcr_shared_ptr_t upcr_global_alloc(size_t nblocks, size_t nbytes) {
  return upc_global_alloc(nblocks, nbytes);
}
UPCR_INLINE upcr_shared_ptr_t upcr_all_alloc(size_t nblocks, size_t nbytes) {
  return upc_all_alloc(nblocks, nbytes);
}
UPCR_INLINE void upcr_free(upcr_shared_ptr_t p) {
  upc_free(p);
}
UPCR_INLINE void upcr_all_free(upcr_shared_ptr_t p) {
  upc_all_free(p);
}
UPCR_INLINE upcr_shared_ptr_t upcr_global_lock_alloc(void) {
  return upc_global_lock_alloc();
}
UPCR_INLINE upcr_shared_ptr_t upcr_all_lock_alloc(void) {
  return upc_all_lock_alloc();
}
UPCR_INLINE void upcr_lock(upcr_shared_ptr_t lock) {
  upc_lock(lock);
}
UPCR_INLINE int upcr_lock_attempt(upcr_shared_ptr_t lock) {
  return upc_lock_attempt(lock);
}
UPCR_INLINE void upcr_unlock(upcr_shared_ptr_t lock) {
  upc_unlock(lock);
}
UPCR_INLINE void upcr_lock_free(upcr_shared_ptr_t lock) {
  upc_lock_free(lock);
}
UPCR_INLINE void upcr_all_lock_free(upcr_shared_ptr_t lock) {
  upc_all_lock_free(lock);
}
UPCR_INLINE void upcr_global_exit(int status) {
  upc_global_exit(status);
}

/* What a translator makes of the variables of a thread: one process is one thread. */
#define UPCR_TLD_DEFINE(name, size, align) name
#define UPCR_TLD_DEFINE_TENTATIVE(name, size, align) name
#define UPCR_TLD_ADDR(name) ((void*)&name)

/* upc_forall. Whether the thread is inside of one whose affinity has been looked at: in those within, every
 * thread has every iteration. */
extern WEFT_EXPORT int32_t upcrt_forall_control;
#define upcr_forall_control upcrt_forall_control
/* Of a loop from lo on, in steps of step, whose iterations go to threads that lie scale * step apart, the
 * first one to start_thread: the first number of the calling thread; INT_MAX if it has none, INT_MIN if step
 * is negative. And the greatest common divisor, which a translator computes such loops with. */
WEFT_EXPORT int upcrt_gcd(int a, int b);
WEFT_EXPORT int upcrt_forall_start(int start_thread, int step, int lo, int scale);
/* A write that upcr_wait_syncnbi_puts waits for. */
UPCR_INLINE void upcrt_memput_nb(upcr_shared_ptr_t dst, const void* src, size_t nbytes) {
  upcr_nbi_memput(dst, src, nbytes);
}
