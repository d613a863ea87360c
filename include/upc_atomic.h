// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#ifdef __cplusplus
extern "C++" {
#endif

#include "upc.h"
#include "upc_types.h"

/* Atomic operations on shared memory (UPC 1.3, the optional library of atomics). All operations on a place go
 * through domains of its type, or barriers between them: plain accesses at the same time are not atomic to
 * them. An operation is complete when it returns.
 *
 * Where UPC has `upc_atomicdomain_t*`, a program here has `upc_atomicdomain_t`, a value, the same on all
 * threads; 0 is null. */
typedef unsigned long long upc_atomicdomain_t;

/* Operations beside those of upc_types.h. The others are UPC_ADD, UPC_MULT, UPC_MIN, UPC_MAX for all types
 * but UPC_PTS, and UPC_AND, UPC_OR, UPC_XOR for integers. Integers wrap. */
#define UPC_GET 512u
#define UPC_SET 1024u
#define UPC_CSWAP 2048u /* *target = *operand2, if *target == *operand1; pointers whatever their phases */
#define UPC_SUB 4096u
#define UPC_INC 8192u
#define UPC_DEC 16384u

/* Hints, which change nothing here. */
typedef int upc_atomichint_t;
#define UPC_ATOMIC_HINT_DEFAULT 0
#define UPC_ATOMIC_HINT_LATENCY 1
#define UPC_ATOMIC_HINT_THROUGHPUT 2

#define UPC_ATOMIC_PERFORMANCE_NOT_FAST 0
#define UPC_ATOMIC_PERFORMANCE_FAST 1

#ifdef __cplusplus
namespace weft {
#endif

/* Collective, with the same arguments on all threads: a domain for these operations, joined by |, on values
 * of the type: UPC_INT, UPC_UINT, UPC_LONG, UPC_ULONG, UPC_INT32, UPC_UINT32, UPC_INT64, UPC_UINT64,
 * UPC_FLOAT, UPC_DOUBLE, or UPC_PTS, which has UPC_GET, UPC_SET and UPC_CSWAP only. Synchronises nothing.
 * Errors: another type; no operation, or one that the type does not have; an unknown hint; more than 65,536
 * domains; between upc_notify and upc_wait. */
WEFT_EXPORT upc_atomicdomain_t upc_all_atomicdomain_alloc(upc_type_t type, upc_op_t ops,
                                                          upc_atomichint_t hints);

/* Collective: the domain is gone. 0 is ignored. Errors: it was freed before; between upc_notify and
 * upc_wait. */
WEFT_EXPORT void upc_all_atomicdomain_free(upc_atomicdomain_t domain);

/* Does op to *target, and stores what was there before in *fetch_ptr, unless that is null. operand1 and
 * operand2 are looked at where op needs them: UPC_CSWAP both, UPC_GET, UPC_INC and UPC_DEC none. The relaxed
 * form is a relaxed access, the strict one a strict one. Errors: the domain is null, unknown or was freed; op
 * is none of it; target is null, misaligned, or not in the shared heap; fetch_ptr is null and op is UPC_GET;
 * an operand that op needs is null; the thread of target has died and upc_atomic_isfast is 0 there, for else
 * the processor does it in memory that stays; in a function that a collective has called. */
WEFT_EXPORT void upc_atomic_relaxed(upc_atomicdomain_t domain, void* fetch_ptr, upc_op_t op,
                                    upc_shared_ptr_t target, const void* operand1, const void* operand2);
WEFT_EXPORT void upc_atomic_strict(upc_atomicdomain_t domain, void* fetch_ptr, upc_op_t op,
                                   upc_shared_ptr_t target, const void* operand1, const void* operand2);

/* UPC_ATOMIC_PERFORMANCE_FAST if the processor does these operations there by itself, without the thread of
 * addr: it is reached by loads and stores, and the type is not UPC_PTS. A null addr stands for the memory of
 * all threads. Errors: as upc_all_atomicdomain_alloc; the thread of addr does not exist. */
WEFT_EXPORT int upc_atomic_isfast(upc_type_t type, upc_op_t ops, upc_shared_ptr_t addr);
/* Another name of it. */
WEFT_EXPORT int upc_atomic_query(upc_type_t type, upc_op_t ops, upc_shared_ptr_t addr);

#ifdef __cplusplus
}
#endif

#if WEFT_GLOBAL_NAMES
using weft::upc_all_atomicdomain_alloc;
using weft::upc_all_atomicdomain_free;
using weft::upc_atomic_isfast;
using weft::upc_atomic_query;
using weft::upc_atomic_relaxed;
using weft::upc_atomic_strict;
#endif

#ifdef __cplusplus
} // extern "C++"
#endif
