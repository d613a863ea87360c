#pragma once

/* The runtime interface that translated UPC programs are compiled against: that of Berkeley UPC (upcr_...),
 * as its translator and clang-upc2c write it. The programs are C; docs/upc.md says how they are made, weftcc
 * makes them. The collectives, atomics, files and casts of UPC 1.3 are the functions of Weft's own headers.
 */
#include "upcr/accesses.h"
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

/* The types of the Berkeley translator's own text (whirl2c.h). */
typedef int8_t _INT8;
typedef int16_t _INT16;
typedef int32_t _INT32;
typedef int64_t _INT64;
typedef uint8_t _UINT8;
typedef uint16_t _UINT16;
typedef uint32_t _UINT32;
typedef uint64_t _UINT64;
typedef float _IEEE32;
typedef double _IEEE64;
typedef long double _IEEEX80;
typedef uint8_t _BOOLEAN;

/* UPC has pointers to domains of atomic operations, where Weft has numbers. */
#define WEFT_DOMAIN(domain) ((upc_atomicdomain_t)(uintptr_t)(domain))
#define upc_all_atomicdomain_alloc(type, ops, hints)                                                         \
  ((upc_atomicdomain_t*)(uintptr_t)(upc_all_atomicdomain_alloc)(type, ops, hints))
#define upc_all_atomicdomain_free(domain) (upc_all_atomicdomain_free)(WEFT_DOMAIN(domain))
#define upc_atomic_relaxed(domain, fetch_ptr, op, target, operand1, operand2)                                \
  (upc_atomic_relaxed)(WEFT_DOMAIN(domain), fetch_ptr, op, target, operand1, operand2)
#define upc_atomic_strict(domain, fetch_ptr, op, target, operand1, operand2)                                 \
  (upc_atomic_strict)(WEFT_DOMAIN(domain), fetch_ptr, op, target, operand1, operand2)

/* Berkeley's own names for what UPC 1.3 has meanwhile. */
typedef upcr_handle_t bupc_handle_t;
#define BUPC_COMPLETE_HANDLE UPC_COMPLETE_HANDLE
#define bupc_memcpy_async upcr_nb_memcpy
#define bupc_memget_async upcr_nb_memget
#define bupc_memput_async upcr_nb_memput
#define bupc_memset_async upcr_nb_memset
#define bupc_memcpy_asynci upcr_nbi_memcpy
#define bupc_memget_asynci upcr_nbi_memget
#define bupc_memput_asynci upcr_nbi_memput
#define bupc_memset_asynci upcr_nbi_memset
#define bupc_waitsync upcr_wait_syncnb
#define bupc_trysync upcr_try_syncnb
#define bupc_waitsync_all upcr_wait_syncnb_all
#define bupc_trysync_all upcr_try_syncnb_all
#define bupc_waitsync_some upcr_wait_syncnb_some
#define bupc_trysync_some upcr_try_syncnb_some
#define bupc_waitsynci upcr_wait_syncnbi_all
#define bupc_trysynci upcr_try_syncnbi_all
#define bupc_begin_accessregion upcr_begin_nbi_accessregion
#define bupc_end_accessregion upcr_end_nbi_accessregion
#define bupc_poll upcr_poll
#define bupc_cast upc_cast
#define bupc_ptradd upc_ptradd
#define bupc_tick_t upc_tick_t
#define bupc_ticks_now upc_ticks_now
#define bupc_ticks_to_ns upc_ticks_to_ns
#define bupc_ticks_to_us(ticks) (upc_ticks_to_ns(ticks) / 1000)
