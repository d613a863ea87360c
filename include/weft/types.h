// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "shared_ptr.h"

#include <stddef.h>
#include <stdint.h>

/* The null pointer-to-shared. */
#ifdef __cplusplus
#define UPC_SHARED_NULL (::upc_shared_ptr_t{0, 0, 0})
#else
#include "constants.h"
#endif

/* Flags of a collective: at most one IN and one OUT mode, and any of the extensions, joined by |. No IN mode
 * means UPC_IN_ALLSYNC, no OUT mode UPC_OUT_ALLSYNC (collectives V1.0, 3; library of UPC 1.3, 7.3). */
typedef int upc_flag_t;
#define UPC_IN_NOSYNC 1
#define UPC_IN_MYSYNC 2
#define UPC_IN_ALLSYNC 4
#define UPC_OUT_NOSYNC 8
#define UPC_OUT_MYSYNC 16
#define UPC_OUT_ALLSYNC 32
/* Hints: the source writes, or the destination reads. Both together are no hint (extended collectives
 * V0.3, 5.2). */
#define UPC_PUSH 64
#define UPC_PULL 128
/* Post the operation and return its handle at once (V0.3, 5.2). */
#define UPC_ASYNC 256

/* The operation is in place: src is null or the same as dst, or, where the text ties src or dst to a root,
 * the root's own block of both is at the same place. Or UPC_IN_PLACE itself is passed for src, which C spells
 * UPC_IN_PLACE_SRC (V0.3, 4 and 5.2). */
#ifdef __cplusplus
#define UPC_IN_PLACE_SRC (::upc_shared_ptr_t{UINT64_MAX, UINT32_MAX, UINT32_MAX})
namespace weft {
struct in_place_t {
  constexpr operator upc_flag_t() const { return 512; }
  constexpr operator upc_shared_ptr_t() const { return UPC_IN_PLACE_SRC; }
};
inline constexpr in_place_t in_place{};
} // namespace weft
#define UPC_IN_PLACE (::weft::in_place)
#else
#define UPC_IN_PLACE 512
#endif

/* A prefix reduction is exclusive: an element of dst gets what is in front of it (V0.3, 5.2). */
#define UPC_EXCLUSIVE_PREFIX_REDUCE 1024

/* An extension: the brackets of a reduction depend on the indices of the elements alone, so its result does not
 * depend on the number of threads, the layout, the team or the way that it is computed. */
#define WEFT_REPRODUCIBLE 2048

/* What the elements of a reduction are combined with (V1.0, 4.3.1; V0.3, 5.5). */
typedef unsigned upc_op_t;
typedef upc_op_t upc_opt_t;
#define UPC_ADD 1u
#define UPC_MULT 2u
#define UPC_AND 4u
#define UPC_OR 8u
#define UPC_XOR 16u
#define UPC_LOGAND 32u
#define UPC_LOGOR 64u
#define UPC_MIN 128u
#define UPC_MAX 256u
#define UPC_FUNC 65536u          /* the function of the call, which commutes */
#define UPC_NONCOMM_FUNC 131072u /* the function of the call, which does not */

/* What an asynchronous collective returns. A completed handle and every copy of it stay complete for ever. */
typedef unsigned long long upc_coll_handle_t;
#define UPC_HANDLE_COMPLETE 0ULL

/* What a non-blocking copy and Cray's non-blocking all-to-all return (UPC 1.3, 7.5). */
typedef unsigned long long upc_handle_t;
#define UPC_COMPLETE_HANDLE 0ULL

/* A team of threads. UPC_TEAM_ALL are all threads of the job (V0.3, 5.2). */
typedef unsigned long long upc_team_t;
#define UPC_TEAM_ALL 1ULL
