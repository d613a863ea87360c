// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <weft/type.h>

/* The library of UPC as a UPC program declares it: what the C headers of Weft say of upc_shared_ptr_t, here of
 * `shared void*`. weftcc gives it to translators under the names of the standard headers, so that the constants
 * in translated text are Weft's. Each function is documented in the C header that declares it. */
#define WEFT_EXPORT
typedef shared void* upc_shared_ptr_t;
typedef int upc_flag_t;
#define UPC_IN_NOSYNC 1
#define UPC_IN_MYSYNC 2
#define UPC_IN_ALLSYNC 4
#define UPC_OUT_NOSYNC 8
#define UPC_OUT_MYSYNC 16
#define UPC_OUT_ALLSYNC 32
#define UPC_PUSH 64
#define UPC_PULL 128
#define UPC_ASYNC 256
#define UPC_EXCLUSIVE_PREFIX_REDUCE 1024
#define WEFT_REPRODUCIBLE 2048
#define UPC_MAX_BLOCK_SIZE 4294967295u
typedef unsigned upc_op_t;
#define UPC_ADD 1u
#define UPC_MULT 2u
#define UPC_AND 4u
#define UPC_OR 8u
#define UPC_XOR 16u
#define UPC_LOGAND 32u
#define UPC_LOGOR 64u
#define UPC_MIN 128u
#define UPC_MAX 256u
#define UPC_FUNC 65536u
#define UPC_NONCOMM_FUNC 131072u
typedef unsigned long long upc_coll_handle_t;
#define UPC_HANDLE_COMPLETE 0ULL
typedef unsigned long long upc_handle_t;
#define UPC_COMPLETE_HANDLE 0ULL

/* upc.h */
typedef shared struct weft_upc_lock_t upc_lock_t;
extern void upc_global_exit(int status);
extern shared void* upc_all_alloc(size_t nblocks, size_t nbytes);
extern shared void* upc_global_alloc(size_t nblocks, size_t nbytes);
extern shared void* upc_alloc(size_t nbytes);
extern void upc_free(shared void* p);
extern void upc_all_free(shared void* p);
extern size_t upc_threadof(shared void* p);
extern size_t upc_phaseof(shared void* p);
extern shared void* upc_resetphase(shared void* p);
extern size_t upc_addrfield(shared void* p);
extern size_t upc_affinitysize(size_t totalsize, size_t nbytes, size_t threadid);
extern upc_lock_t* upc_global_lock_alloc(void);
extern upc_lock_t* upc_all_lock_alloc(void);
extern void upc_lock_free(upc_lock_t* lock);
extern void upc_all_lock_free(upc_lock_t* lock);
extern void upc_lock(upc_lock_t* lock);
extern int upc_lock_attempt(upc_lock_t* lock);
extern void upc_unlock(upc_lock_t* lock);
extern void upc_memcpy(shared void* dst, shared const void* src, size_t nbytes);
extern void upc_memget(void* dst, shared const void* src, size_t nbytes);
extern void upc_memput(shared void* dst, const void* src, size_t nbytes);
extern void upc_memset(shared void* dst, int c, size_t nbytes);

/* upc_nb.h */
extern upc_handle_t upc_memcpy_nb(shared void* dst, shared const void* src, size_t nbytes);
extern upc_handle_t upc_memget_nb(void* dst, shared const void* src, size_t nbytes);
extern upc_handle_t upc_memput_nb(shared void* dst, const void* src, size_t nbytes);
extern upc_handle_t upc_memset_nb(shared void* dst, int c, size_t nbytes);
extern void upc_memcpy_nbi(shared void* dst, shared const void* src, size_t nbytes);
extern void upc_memget_nbi(void* dst, shared const void* src, size_t nbytes);
extern void upc_memput_nbi(shared void* dst, const void* src, size_t nbytes);
extern void upc_memset_nbi(shared void* dst, int c, size_t nbytes);
extern void upc_sync(upc_handle_t handle);
extern int upc_sync_attempt(upc_handle_t handle);
extern void upc_synci(void);
extern int upc_synci_attempt(void);

/* upc_castable.h, upc_tick.h */
#define UPC_CASTABLE_ALL_ALLOC 1
#define UPC_CASTABLE_GLOBAL_ALLOC 2
#define UPC_CASTABLE_ALLOC 4
#define UPC_CASTABLE_STATIC 8
typedef struct upc_thread_info_t {
  int guaranteedCastable, probablyCastable;
} upc_thread_info_t;
extern void* upc_cast(const shared void* p);
extern upc_thread_info_t upc_thread_info(size_t thread);
typedef uint64_t upc_tick_t;
extern upc_tick_t upc_ticks_now(void);
extern uint64_t upc_ticks_to_ns(upc_tick_t ticks);

/* upc_atomic.h */
typedef struct weft_upc_domain_t upc_atomicdomain_t;
typedef int upc_atomichint_t;
#define UPC_GET 512u
#define UPC_SET 1024u
#define UPC_CSWAP 2048u
#define UPC_SUB 4096u
#define UPC_INC 8192u
#define UPC_DEC 16384u
#define UPC_ATOMIC_HINT_DEFAULT 0
#define UPC_ATOMIC_HINT_LATENCY 1
#define UPC_ATOMIC_HINT_THROUGHPUT 2
#define UPC_ATOMIC_PERFORMANCE_NOT_FAST 0
#define UPC_ATOMIC_PERFORMANCE_FAST 1
extern upc_atomicdomain_t* upc_all_atomicdomain_alloc(upc_type_t type, upc_op_t ops, upc_atomichint_t hints);
extern void upc_all_atomicdomain_free(upc_atomicdomain_t* domain);
extern void upc_atomic_relaxed(upc_atomicdomain_t* domain, void* fetch_ptr, upc_op_t op, shared void* target,
                               const void* operand1, const void* operand2);
extern void upc_atomic_strict(upc_atomicdomain_t* domain, void* fetch_ptr, upc_op_t op, shared void* target,
                              const void* operand1, const void* operand2);
extern int upc_atomic_isfast(upc_type_t type, upc_op_t ops, shared void* addr);

/* upc_collective.h. upc_wait is a keyword: a handle is completed by weft_wait_handle(&h), and several by
 * upc_waitall and its like. */
extern void weft_wait_handle(upc_coll_handle_t* handle);
extern int weft_test_handle(upc_coll_handle_t* handle);
extern int upc_waitany(int count, upc_coll_handle_t* handles);
extern int upc_testany(int count, upc_coll_handle_t* handles);
extern void upc_waitall(int count, upc_coll_handle_t* handles);
extern int upc_testall(int count, upc_coll_handle_t* handles);
#define WEFT_UPC_RELOCATION(name)                                                                            \
  extern upc_coll_handle_t name(shared void* dst, shared const void* src, size_t nbytes, upc_flag_t sync_mode)
WEFT_UPC_RELOCATION(upc_all_broadcast);
WEFT_UPC_RELOCATION(upc_all_scatter);
WEFT_UPC_RELOCATION(upc_all_gather);
WEFT_UPC_RELOCATION(upc_all_gather_all);
WEFT_UPC_RELOCATION(upc_all_exchange);
extern upc_coll_handle_t upc_all_permute(shared void* dst, shared const void* src, shared const int* perm,
                                         size_t nbytes, upc_flag_t sync_mode);
extern upc_coll_handle_t upc_all_sort(shared void* array, size_t elem_size, size_t elements, size_t block,
                                      int (*compare)(shared void*, shared void*), upc_flag_t sync_mode);
#define WEFT_UPC_REDUCTION(T, type)                                                                          \
  extern upc_coll_handle_t upc_all_reduce##T(shared void* dst, shared const void* src, upc_op_t op,          \
                                             size_t nelems, size_t block, type (*func)(type, type),          \
                                             upc_flag_t sync_mode);                                          \
  extern upc_coll_handle_t upc_all_reduce_all##T(shared void* dst, shared const void* src, upc_op_t op,      \
                                                 size_t nelems, size_t block, type (*func)(type, type),      \
                                                 upc_flag_t sync_mode);                                      \
  extern upc_coll_handle_t upc_all_prefix_reduce##T(shared void* dst, shared const void* src, upc_op_t op,   \
                                                    size_t nelems, size_t block, type (*func)(type, type),   \
                                                    upc_flag_t sync_mode)
WEFT_UPC_REDUCTION(C, signed char);
WEFT_UPC_REDUCTION(UC, unsigned char);
WEFT_UPC_REDUCTION(S, short);
WEFT_UPC_REDUCTION(US, unsigned short);
WEFT_UPC_REDUCTION(I, int);
WEFT_UPC_REDUCTION(UI, unsigned int);
WEFT_UPC_REDUCTION(L, long);
WEFT_UPC_REDUCTION(UL, unsigned long);
WEFT_UPC_REDUCTION(F, float);
WEFT_UPC_REDUCTION(D, double);
WEFT_UPC_REDUCTION(LD, long double);

/* Berkeley's extensions (upcr/berkeley.h); weft/semaphore.h and weft/strided.h have the others. */
#define BUPC_DUMP_MIN_LENGTH 100
#define BUPC_THREADS_SAME 0
#define BUPC_THREADS_VERYNEAR 100
#define BUPC_THREADS_NEAR 200
#define BUPC_THREADS_FAR 300
#define BUPC_THREADS_VERYFAR 400
typedef upc_handle_t bupc_handle_t;
#define BUPC_COMPLETE_HANDLE 0ULL
extern bupc_handle_t bupc_memcpy_async(shared void* dst, shared const void* src, size_t nbytes);
extern bupc_handle_t bupc_memget_async(void* dst, shared const void* src, size_t nbytes);
extern bupc_handle_t bupc_memput_async(shared void* dst, const void* src, size_t nbytes);
extern bupc_handle_t bupc_memset_async(shared void* dst, int c, size_t nbytes);
extern void bupc_memcpy_asynci(shared void* dst, shared const void* src, size_t nbytes);
extern void bupc_memget_asynci(void* dst, shared const void* src, size_t nbytes);
extern void bupc_memput_asynci(shared void* dst, const void* src, size_t nbytes);
extern void bupc_memset_asynci(shared void* dst, int c, size_t nbytes);
extern void bupc_waitsync(bupc_handle_t handle);
extern int bupc_trysync(bupc_handle_t handle);
extern void bupc_waitsync_all(bupc_handle_t* handles, size_t count);
extern int bupc_trysync_all(bupc_handle_t* handles, size_t count);
extern void bupc_waitsync_some(bupc_handle_t* handles, size_t count);
extern int bupc_trysync_some(bupc_handle_t* handles, size_t count);
extern void bupc_waitsynci(void);
extern int bupc_trysynci(void);
extern void bupc_begin_accessregion(void);
extern bupc_handle_t bupc_end_accessregion(void);
extern void bupc_poll(void);
extern void* bupc_cast(shared const void* p);
extern int bupc_castable(shared const void* p);
extern int bupc_thread_castable(unsigned thread);
extern shared void* bupc_inverse_cast(void* local);
extern shared void* bupc_local_to_shared(void* local, int thread, int phase);
extern shared void* bupc_ptradd(shared void* p, size_t block, size_t elem_size, ptrdiff_t inc);
extern unsigned bupc_thread_distance(int a, int b);
extern int bupc_dump_shared(shared const void* p, char* text, int size);
extern char* bupc_getenv(const char* name);
typedef uint64_t bupc_tick_t;
extern bupc_tick_t bupc_ticks_now(void);
extern uint64_t bupc_ticks_to_ns(bupc_tick_t ticks);
extern uint64_t bupc_ticks_to_us(bupc_tick_t ticks);
#define WEFT_UPC_ATOMICS(T, type, order)                                                                     \
  extern type bupc_atomic##T##_read_##order(shared void* p);                                                 \
  extern void bupc_atomic##T##_set_##order(shared void* p, type v);                                          \
  extern type bupc_atomic##T##_swap_##order(shared void* p, type v);                                         \
  extern type bupc_atomic##T##_cswap_##order(shared void* p, type expected, type v);                         \
  extern type bupc_atomic##T##_mswap_##order(shared void* p, type mask, type v);                             \
  extern type bupc_atomic##T##_fetchnot_##order(shared void* p);                                             \
  extern type bupc_atomic##T##_fetchadd_##order(shared void* p, type v);                                     \
  extern type bupc_atomic##T##_fetchand_##order(shared void* p, type v);                                     \
  extern type bupc_atomic##T##_fetchor_##order(shared void* p, type v);                                      \
  extern type bupc_atomic##T##_fetchxor_##order(shared void* p, type v)
#define WEFT_UPC_ATOMIC(T, type)                                                                             \
  WEFT_UPC_ATOMICS(T, type, relaxed);                                                                        \
  WEFT_UPC_ATOMICS(T, type, strict)
WEFT_UPC_ATOMIC(U64, uint64_t);
WEFT_UPC_ATOMIC(I64, int64_t);
WEFT_UPC_ATOMIC(U32, uint32_t);
WEFT_UPC_ATOMIC(I32, int32_t);
WEFT_UPC_ATOMIC(UI, unsigned int);
WEFT_UPC_ATOMIC(I, int);
WEFT_UPC_ATOMIC(UL, unsigned long);
WEFT_UPC_ATOMIC(L, long);
