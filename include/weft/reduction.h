// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "declare.h"
#include "types.h"

/* Reductions and prefix reductions of distributed arrays, over all threads or over a team. For the flags of
 * sync_mode, handles and teams see upc_collective.h.
 *
 * Each exists for 17 types, whose letters end its name:
 *   C signed char      I  int            F  float         LL  long long           CX  float _Complex
 *   UC unsigned char   UI unsigned       D  double        ULL unsigned long long  DX  double _Complex
 *   S short            L  long           LD long double   B   _Bool               LDX long double _Complex
 *   US unsigned short  UL unsigned long
 *
 * `src` is treated as `shared [blk_size] TYPE[nelems]`, blk_size 0 as `shared [] TYPE[nelems]`: its phase and
 * its thread count. With a team, too, the elements lie on the threads of the job, which must be members then.
 *
 * upc_all_reduceT: src[0] op src[1] op ... op src[nelems - 1] is stored in *dst, on any one thread (V1.0,
 * 4.3.2).
 *
 * upc_all_reduce_allT: it is stored in each element of `dst`: shared TYPE[THREADS], whose first element has
 * affinity to thread 0 (with a team: to the thread of rank 0), and it is the same there in every bit (V0.3,
 * 5.5.1).
 *
 * upc_all_prefix_reduceT: dst[i] gets src[0] op ... op src[i], or, with UPC_EXCLUSIVE_PREFIX_REDUCE in
 * sync_mode, ... op src[i - 1], and dst[0] is left as it is. `dst` is treated like src; where it has the same
 * thread and phase nothing but partial results is moved. With UPC_IN_PLACE src is null or dst (V1.0, 4.3.3;
 * V0.3, 5.5.1).
 *
 * op is one of
 *
 *   UPC_ADD, UPC_MULT         numbers and complex numbers; integers wrap
 *   UPC_AND, UPC_OR, UPC_XOR  integers
 *   UPC_LOGAND, UPC_LOGOR     all types; the result of an operation is 1 or 0
 *   UPC_MIN, UPC_MAX          all types but complex ones and _Bool; of two that are equal, or of which one is
 *                             no number, the first
 *   UPC_FUNC                  func, which is associative and commutes
 *   UPC_NONCOMM_FUNC          func, which is associative: the order is that of the elements
 *
 * func is not looked at with the others. It may read shared memory by upc_cast and ask what threads and
 * pointers are; whatever would wait for other threads, a collective above all, is an error there. It runs on
 * the calling thread, or, of an asynchronous operation, on whichever thread of the process moves it on. What
 * it throws (in C++) the call throws that completes the operation, which then fails on all threads.
 *
 * With WEFT_REPRODUCIBLE in sync_mode, an extension, the result of floating numbers does not depend on the
 * number of threads either, nor on the layout: the elements are put into brackets by their indices alone.
 * Elements may then have to be moved to other threads.
 *
 * A post without a progress thread (WEFT_PROGRESS) combines the elements that the calling thread has before
 * it returns, so that others need not wait for the thread while it computes; with one it does not.
 *
 * In which way the elements are put into brackets depends on the arguments and on which threads have the
 * elements, never on which comes first: the same call on the same threads gives the same bits. nelems may be
 * 0: dst is left as it is, but the modes hold.
 *
 * Errors of all: dst or src is null, misaligned, or leads outside the shared heap; the phase of src, or of
 * dst of a prefix reduction, is not below blk_size; blk_size is above 2^32 - 1; nelems elements are more than
 * there can be; op is none, or not defined for the type; func is null though op needs it; an element, or dst,
 * lies on a thread that is no member of the team; dst and src of a prefix reduction overlap and are not in
 * place; two IN or two OUT modes, or an unknown flag; the team is unknown or was freed; between upc_notify
 * and upc_wait; in a function that a collective has called; more operations under way than the library has
 * room for. */

__extension__ typedef float _Complex weft_complex_float;
__extension__ typedef double _Complex weft_complex_double;
__extension__ typedef long double _Complex weft_complex_long_double;
#ifdef __cplusplus
#define WEFT_BOOL bool
#else
#define WEFT_BOOL _Bool
#endif

/* X(letters, type) for each. */
#define WEFT_REDUCTION_TYPES(X)                                                                              \
  X(C, signed char)                                                                                          \
  X(UC, unsigned char)                                                                                       \
  X(S, short)                                                                                                \
  X(US, unsigned short)                                                                                      \
  X(I, int)                                                                                                  \
  X(UI, unsigned)                                                                                            \
  X(L, long)                                                                                                 \
  X(UL, unsigned long)                                                                                       \
  X(F, float)                                                                                                \
  X(D, double)                                                                                               \
  X(LD, long double)                                                                                         \
  X(LL, long long)                                                                                           \
  X(ULL, unsigned long long)                                                                                 \
  X(CX, weft_complex_float)                                                                                  \
  X(DX, weft_complex_double)                                                                                 \
  X(LDX, weft_complex_long_double)                                                                           \
  X(B, WEFT_BOOL)

#define WEFT_REDUCTION(name, type)                                                                           \
  WEFT_EXPORT upc_coll_handle_t name(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_op_t op, size_t nelems, \
                                     size_t blk_size, type (*func)(type, type), upc_flag_t sync_mode)
#define WEFT_TEAM_REDUCTION(name, type)                                                                      \
  WEFT_EXPORT upc_coll_handle_t name(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_op_t op, size_t nelems, \
                                     size_t blk_size, type (*func)(type, type), upc_flag_t sync_mode,        \
                                     upc_team_t team)
#define WEFT_DECLARE_REDUCTIONS(T, type)                                                                     \
  WEFT_REDUCTION(upc_all_reduce##T, type);                                                                   \
  WEFT_REDUCTION(upc_all_reduce_all##T, type);                                                               \
  WEFT_REDUCTION(upc_all_prefix_reduce##T, type);                                                            \
  WEFT_TEAM_REDUCTION(upc_all_reduce##T##_team, type);                                                       \
  WEFT_TEAM_REDUCTION(upc_all_reduce_all##T##_team, type);                                                   \
  WEFT_TEAM_REDUCTION(upc_all_prefix_reduce##T##_team, type);

#ifdef __cplusplus
namespace weft {
/* The forms with a team, under the names of the texts too. */
#define WEFT_DECLARE_TEAM_REDUCTIONS(T, type)                                                                \
  WEFT_TEAM_REDUCTION(upc_all_reduce##T, type);                                                              \
  WEFT_TEAM_REDUCTION(upc_all_reduce_all##T, type);                                                          \
  WEFT_TEAM_REDUCTION(upc_all_prefix_reduce##T, type);
WEFT_REDUCTION_TYPES(WEFT_DECLARE_TEAM_REDUCTIONS)
#undef WEFT_DECLARE_TEAM_REDUCTIONS
#endif

WEFT_REDUCTION_TYPES(WEFT_DECLARE_REDUCTIONS)
#undef WEFT_DECLARE_REDUCTIONS

#ifdef __cplusplus
} // namespace weft
#endif

#if WEFT_GLOBAL_NAMES
#define WEFT_NAME_REDUCTIONS(T, type)                                                                        \
  using weft::upc_all_reduce##T;                                                                             \
  using weft::upc_all_reduce_all##T;                                                                         \
  using weft::upc_all_prefix_reduce##T;                                                                      \
  using weft::upc_all_reduce##T##_team;                                                                      \
  using weft::upc_all_reduce_all##T##_team;                                                                  \
  using weft::upc_all_prefix_reduce##T##_team;
WEFT_REDUCTION_TYPES(WEFT_NAME_REDUCTIONS)
#undef WEFT_NAME_REDUCTIONS
#endif
