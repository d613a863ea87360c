// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/* The runtime interface that translated UPC programs are compiled against: that of Berkeley UPC (upcr_...),
 * as its translator and clang-upc2c write it. The programs are C; docs/upc.md says how they are made, weftcc
 * makes them. The collectives, atomics, files and casts of UPC 1.3 are the functions of Weft's own headers.
 */
#include "upcr/accesses.h"
#include "upcr/berkeley.h"
#include "upcr/forall.h"
#include "upcr/operators.h"
#include "upcr/pointers.h"
#include "upcr/program.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upc_atomic.h>
#include <upc_collective.h>
#include <upc_io.h>
#include <upc_tick.h>
#include <weft/semaphore.h>
#include <weft/strided.h>

/* Translated text has the name of a keyword only where it is the language's: the statements are calls of
 * upcr_... there, and the number of threads too. */
#undef MYTHREAD
#undef THREADS
#undef upc_barrier
#undef upc_fence
#undef upc_notify
#undef upc_wait
#define MYTHREAD ((int)upcr_mythread())
#ifdef __UPC_STATIC_THREADS__
#define THREADS __UPC_STATIC_THREADS__
#else
#define THREADS ((int)upcr_threads())
#endif

/* What translated text defines itself unless this is defined: it is in upcr/program.h. */
#define UPCR_TRANS_EXTRA_INCL

/* Where a function begins and ends, and where in the source it is: nothing to do here. */
#define UPCR_BEGIN_FUNCTION() ((void)0)
#define UPCR_EXIT_FUNCTION() ((void)0)
#define UPCR_SET_SRCPOS(file, line) ((void)0)
#define UPCRI_INLINE(name) static inline

/* Marks that a compiler driver writes behind a file, to compare how files were configured. */
#define UPCR_CONFIG_STRING "weft"
#define GASNET_CONFIG_STRING "weft"
#define UPCRI_THREADCONFIG_STR ""
#define UPCRI_STRINGIFY_NOW(x) #x
#ifndef _STRINGIFY
#define _STRINGIFY(x) UPCRI_STRINGIFY_NOW(x)
#endif
#ifndef GASNETT_IDENT
#define GASNETT_IDENT(name, text) static const char name[] __attribute__((unused)) = text
#endif

/* UPC has pointers to domains of atomic operations, where Weft has numbers. */
#define WEFT_DOMAIN(domain) ((upc_atomicdomain_t)(uintptr_t)(domain))
#define upc_all_atomicdomain_alloc(type, ops, hints)                                                         \
  ((upc_atomicdomain_t*)(uintptr_t)(upc_all_atomicdomain_alloc)(type, ops, hints))
#define upc_all_atomicdomain_free(domain) (upc_all_atomicdomain_free)(WEFT_DOMAIN(domain))
#define upc_atomic_relaxed(domain, fetch_ptr, op, target, operand1, operand2)                                \
  (upc_atomic_relaxed)(WEFT_DOMAIN(domain), fetch_ptr, op, target, operand1, operand2)
#define upc_atomic_strict(domain, fetch_ptr, op, target, operand1, operand2)                                 \
  (upc_atomic_strict)(WEFT_DOMAIN(domain), fetch_ptr, op, target, operand1, operand2)
