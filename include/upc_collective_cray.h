// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C++" {
#endif

#include "upc.h"
#include "upc_nb.h"

/* Cray's team all-to-all (cray_upc_team_alltoall(3c)). */

typedef upc_team_t cray_upc_team_t;
#define CRAY_UPC_TEAM_ALL UPC_TEAM_ALL
/* The threads of this thread's node, in thread order. */
#define CRAY_UPC_TEAM_NODE 2ULL

typedef enum { CRAY_UPC_SUCCESS = 0, CRAY_UPC_ERROR = 1 } cray_upc_return_t;

/* What the elements of a team reduction are (cray_upc_team_reduce(3c)). */
typedef enum {
  CRAY_UPC_CHAR, /* signed char */
  CRAY_UPC_UCHAR,
  CRAY_UPC_SHORT,
  CRAY_UPC_USHORT,
  CRAY_UPC_INT,
  CRAY_UPC_UINT,
  CRAY_UPC_LONG,
  CRAY_UPC_ULONG,
  CRAY_UPC_FLOAT,
  CRAY_UPC_DOUBLE,
  CRAY_UPC_LONGDOUBLE,
  CRAY_UPC_LONGLONG,
  CRAY_UPC_ULONGLONG,
  CRAY_UPC_FLOAT_COMPLEX,
  CRAY_UPC_DOUBLE_COMPLEX,
  CRAY_UPC_LONGDOUBLE_COMPLEX,
  CRAY_UPC_BOOL,
  CRAY_UPC_FLOAT_INT, /* struct { float value; int index; } and so on */
  CRAY_UPC_DOUBLE_INT,
  CRAY_UPC_LONG_INT,
  CRAY_UPC_2INT,
  CRAY_UPC_SHORT_INT,
  WEFT_OPAQUE /* elements of the size that an operator of weft_op_create has */
} cray_upc_dtype_t;

/* The smallest, or largest, value and its index, of equal ones the lowest index: the operators of the five
 * pairs (upc_op_t(3c)). */
#define CRAY_UPC_MINLOC 512u
#define CRAY_UPC_MAXLOC 1024u

/* Functions of which operators are made: inout[k] becomes in[k] op inout[k], for each k below *nelems, or
 * nelems. */
typedef void (*cray_upc_user_fun_t)(void* in, void* inout, size_t* nelems, cray_upc_dtype_t* dtype);
typedef void (*weft_user_function_t)(const void* in, void* inout, size_t nelems, void* context);

#ifdef __cplusplus
namespace weft {
#endif

/* Makes an operator of func, which is associative, and stores it in *op: for the reductions and scans of
 * vectors below, with each dtype that func is ready for. With commute 0 elements are combined in the order of
 * their ranks; else func commutes, too. Every thread makes its own, and a handle means something on the
 * thread that made it. func runs on the thread that waits for the operation, or on whichever thread of the
 * process moves it on, and obeys the rules of functions in weft/reduction.h.
 *
 * weft_op_create is an extension: for elements of elem_size bytes, 1 to 4096, of whatever type, which are
 * passed with WEFT_OPAQUE for dtype; func gets context, too.
 *
 * Returns CRAY_UPC_SUCCESS, or CRAY_UPC_ERROR when there are 4,096 operators already. Errors: func or op is
 * null; elem_size is 0, or above 4096 (cray_upc_op_create(3c)). */
WEFT_EXPORT cray_upc_return_t cray_upc_op_create(cray_upc_user_fun_t func, int commute, upc_op_t* op);
WEFT_EXPORT cray_upc_return_t weft_op_create(weft_user_function_t func, void* context, size_t elem_size,
                                             int commute, upc_op_t* op);

/* An extension: a pointer-to-shared that stands for memory of the calling thread's process, ordinary memory
 * too: of malloc, of the stack, of a std::vector. The reductions and scans of vectors and the exchanges of
 * unequal blocks below take it for dst and src; it means something to these calls and on this thread only.
 * Null gives the null pointer.
 *
 * What other threads cannot reach is copied into the shared heap: src of less than 2 MiB when the call posts,
 * so the memory may be used again at once, else behind it; a reduction's result when the operation completes.
 * An exchange writes its dst where it is. Ordinary memory of dst, and src of 2 MiB and more, must stay until
 * the operation is complete. Whether memory is ordinary may differ from thread to thread. With WEFT_MALLOC=1
 * large memory of malloc is not: others reach src where it lies. Errors of the calls: no room in the heap,
 * of which each thread has WEFT_HEAP_SIZE for this and for upc_alloc. Errors of this call: before weft_init.
 */
WEFT_EXPORT upc_shared_ptr_t weft_pointer_to(const void* memory);
/* The same, and the program leaves src as it is until the operation is complete. So nothing is copied where
 * no other thread needs to reach it: between threads that are alone on their hosts, of blocks and vectors
 * that go there in messages. */
WEFT_EXPORT upc_shared_ptr_t weft_lend(const void* memory);

/* The operator is unknown from now on. Operations that have begun keep it until they are complete. Errors: op
 * is an operator of the library, was freed, or was not made on this thread (cray_upc_op_free(3c)). */
WEFT_EXPORT void cray_upc_op_free(upc_op_t op);

/* Element i of dst gets what op makes of the elements i of src of all threads of the team, in the order of
 * their ranks: cray_upc_team_reduce on the thread of rank `root` only, cray_upc_team_allreduce on all, where
 * it is the same in every bit. dst and src are nelems elements each, on the calling thread, at places that
 * need not be those of other threads. A null dst: the results replace the elements of src. op is an operator
 * of weft/reduction.h other than UPC_FUNC and UPC_NONCOMM_FUNC, one of the two above, or one that the thread
 * has made.
 *
 * The modes are UPC_IN_MYSYNC and UPC_OUT_MYSYNC. With a null handle the call waits; else it returns at once,
 * and upc_sync of *handle completes the operation. Returns CRAY_UPC_SUCCESS.
 *
 * Errors: src is null; dst or src is on another thread, misaligned or not inside the shared heap; the two
 * overlap; the size overflows; dtype or op is none, or the two do not go together; op was freed; root is no
 * rank of the team; and as all collectives (cray_upc_team_reduce(3c), cray_upc_team_allreduce(3c)). */
WEFT_EXPORT cray_upc_return_t cray_upc_team_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nelems,
                                                   cray_upc_dtype_t dtype, upc_op_t op, int root,
                                                   cray_upc_team_t team, upc_handle_t* handle);
WEFT_EXPORT cray_upc_return_t cray_upc_team_allreduce(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                      size_t nelems, cray_upc_dtype_t dtype, upc_op_t op,
                                                      cray_upc_team_t team, upc_handle_t* handle);

/* Extensions of the same kind. Scans: element i of dst gets what op makes of the elements i of src of the
 * threads of rank 0 up to this one; of cray_upc_team_exscan, up to the one before this one, and on the thread
 * of rank 0 dst is left as it is. All else is as with cray_upc_team_allreduce. */
WEFT_EXPORT cray_upc_return_t cray_upc_team_scan(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nelems,
                                                 cray_upc_dtype_t dtype, upc_op_t op, cray_upc_team_t team,
                                                 upc_handle_t* handle);
WEFT_EXPORT cray_upc_return_t cray_upc_team_exscan(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nelems,
                                                   cray_upc_dtype_t dtype, upc_op_t op, cray_upc_team_t team,
                                                   upc_handle_t* handle);

/* src is as many blocks as the team has threads, one behind the other: of nelems elements each, or of
 * counts[k] elements for the thread of rank k, the same on all threads, and read before the call returns. dst
 * gets the block of this thread of what cray_upc_team_allreduce would make of src. A null dst: the block
 * replaces the first elements of src. Errors: as of the others; counts is null. */
WEFT_EXPORT cray_upc_return_t cray_upc_team_reduce_scatter(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                           size_t nelems, cray_upc_dtype_t dtype, upc_op_t op,
                                                           cray_upc_team_t team, upc_handle_t* handle);
WEFT_EXPORT cray_upc_return_t cray_upc_team_reduce_scatterv(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                            const size_t* counts, cray_upc_dtype_t dtype,
                                                            upc_op_t op, cray_upc_team_t team,
                                                            upc_handle_t* handle);

/* Extensions: exchanges of blocks that have sizes and places of their own, each known to its two ends only.
 * dst and src are on the calling thread, at places that need not be those of other threads. Sizes and places
 * are bytes; places count from dst or src. The arrays have an element for each thread of the team, by rank,
 * and are read before the call returns.
 *
 * cray_upc_team_alltoallv: src_nbytes[k] bytes at src + src_places[k] go to the thread of rank k, and
 * dst_nbytes[k] bytes from it to dst + dst_places[k].
 * cray_upc_team_allgatherv: the src_nbytes bytes at src go to all; dst_nbytes[k] from the thread of rank k.
 * cray_upc_team_gatherv: to the thread of rank root; elsewhere dst and its arrays are not looked at.
 * cray_upc_team_scatterv: src_nbytes[k] bytes of the thread of rank root to the one of rank k; elsewhere src
 * and its arrays are not looked at.
 *
 * A null src, of allgatherv and on the root of a gatherv, or a null dst on the root of a scatterv: the
 * thread's own block stays where it is. Pointers of which nothing is read or written may be null, too.
 *
 * Modes, handle and return are those of cray_upc_team_allreduce. A thread that has entered holds up no other;
 * a late one those that exchange a block with it, and of the first two all.
 *
 * Errors: an array is null; a place is negative; two blocks that arrive overlap, or one that arrives and one
 * that is given; dst or src is on another thread, or a block not inside the shared heap; root is no rank of
 * the team; the two ends of a block give different sizes, which the call that completes the operation reports
 * on the thread that was to get it; the shared heap has no room for 32 bytes for each thread of the team, on
 * a thread that gives to several; and as all collectives. */
WEFT_EXPORT cray_upc_return_t cray_upc_team_alltoallv(upc_shared_ptr_t dst, const size_t* dst_nbytes,
                                                      const ptrdiff_t* dst_places, upc_shared_ptr_t src,
                                                      const size_t* src_nbytes, const ptrdiff_t* src_places,
                                                      cray_upc_team_t team, upc_handle_t* handle);
WEFT_EXPORT cray_upc_return_t cray_upc_team_allgatherv(upc_shared_ptr_t dst, const size_t* dst_nbytes,
                                                       const ptrdiff_t* dst_places, upc_shared_ptr_t src,
                                                       size_t src_nbytes, cray_upc_team_t team,
                                                       upc_handle_t* handle);
WEFT_EXPORT cray_upc_return_t cray_upc_team_gatherv(upc_shared_ptr_t dst, const size_t* dst_nbytes,
                                                    const ptrdiff_t* dst_places, upc_shared_ptr_t src,
                                                    size_t src_nbytes, int root, cray_upc_team_t team,
                                                    upc_handle_t* handle);
WEFT_EXPORT cray_upc_return_t cray_upc_team_scatterv(upc_shared_ptr_t dst, size_t dst_nbytes,
                                                     upc_shared_ptr_t src, const size_t* src_nbytes,
                                                     const ptrdiff_t* src_places, int root,
                                                     cray_upc_team_t team, upc_handle_t* handle);

/* Copies the i-th block of nbytes bytes of the thread of rank j to the j-th block of the thread of rank i.
 * dst and src are distinct and point to the first byte on the thread of rank 0 of the team; each has nbytes *
 * (threads of the team) bytes on every thread. Data of a thread is neither read nor written before that
 * thread has entered.
 *
 * cray_upc_team_alltoall returns when the operation is complete everywhere.
 *
 * cray_upc_team_alltoall_nb returns when all threads of the team have entered. upc_sync of the handle that it
 * returns completes the operation locally: the calling thread's dst is written, while its src may still be
 * read. Everywhere complete it is after any synchronisation of the team that follows upc_sync, the next call
 * of this family included.
 *
 * cray_upc_team_alltoall_nbi is the same with the implicit handle: it returns UPC_COMPLETE_HANDLE, and
 * upc_synci completes it.
 *
 * Errors: dst or src is null, not on the thread of rank 0 or not inside the shared heap; the areas overlap;
 * the size overflows; the team is unknown or was freed; between upc_notify and upc_wait; for the two that
 * post, more operations under way than the library has room for. */
WEFT_EXPORT void cray_upc_team_alltoall(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                        cray_upc_team_t team);
WEFT_EXPORT WEFT_HANDLE upc_handle_t cray_upc_team_alltoall_nb(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                               size_t nbytes, cray_upc_team_t team);
WEFT_EXPORT upc_handle_t cray_upc_team_alltoall_nbi(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                    cray_upc_team_t team);

/* Returns when all threads of the team have called it. Errors: the team is unknown or was freed; between
 * upc_notify and upc_wait. Source: cray_upc_team_barrier(3c). */
WEFT_EXPORT void cray_upc_team_barrier(cray_upc_team_t team);

/* The same without waiting: upc_sync of the handle that it returns waits until all threads of the team have
 * called it. Errors: as cray_upc_team_barrier; more operations under way than the library has room for. */
WEFT_EXPORT WEFT_HANDLE upc_handle_t cray_upc_team_barrier_nb(cray_upc_team_t team);

/* Collective over team: makes a new team of all threads that pass the same color, ranked by key, and by their
 * rank in team where keys are equal; any int will do for either. Stores its handle, which means something on
 * this thread only, in *new_team. Operations of other teams may be in flight. Returns CRAY_UPC_SUCCESS, or
 * CRAY_UPC_ERROR and a handle of 0 when there is no memory for another team (about 1,800 at once, fewer
 * between hosts); then no thread of that color has one. Errors: the team is unknown or was freed; new_team is
 * null; between upc_notify and upc_wait. Source: cray_upc_team_split(3c). */
WEFT_EXPORT cray_upc_return_t cray_upc_team_split(cray_upc_team_t team, int color, int key,
                                                  cray_upc_team_t* new_team);

/* The calling thread's rank in a team, and the number of its threads. Errors: the team is unknown or was
 * freed. Source: cray_upc_team_rank(3c), cray_upc_team_size(3c). */
WEFT_EXPORT int cray_upc_team_rank(cray_upc_team_t team);
WEFT_EXPORT int cray_upc_team_size(cray_upc_team_t team);

/* Collective over team: the handle is unknown from now on. Returns at once; operations of the team that are
 * in flight are completed as usual, by their handles. Errors: the team is unknown, was freed, or is one of
 * the two that are always there; between upc_notify and upc_wait. Source: cray_upc_team_free(3c). */
WEFT_EXPORT void cray_upc_team_free(cray_upc_team_t team);

#ifdef __cplusplus
}
#endif

#if WEFT_GLOBAL_NAMES
using weft::cray_upc_op_create;
using weft::cray_upc_op_free;
using weft::cray_upc_team_allgatherv;
using weft::cray_upc_team_allreduce;
using weft::cray_upc_team_alltoall;
using weft::cray_upc_team_alltoall_nb;
using weft::cray_upc_team_alltoall_nbi;
using weft::cray_upc_team_alltoallv;
using weft::cray_upc_team_barrier;
using weft::cray_upc_team_barrier_nb;
using weft::cray_upc_team_exscan;
using weft::cray_upc_team_free;
using weft::cray_upc_team_gatherv;
using weft::cray_upc_team_rank;
using weft::cray_upc_team_reduce;
using weft::cray_upc_team_reduce_scatter;
using weft::cray_upc_team_reduce_scatterv;
using weft::cray_upc_team_scan;
using weft::cray_upc_team_scatterv;
using weft::cray_upc_team_size;
using weft::cray_upc_team_split;
using weft::weft_lend;
using weft::weft_op_create;
using weft::weft_pointer_to;
#endif

#ifdef __cplusplus
} // extern "C++"
#endif
