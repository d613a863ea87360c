// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "declare.h"
#include "types.h"

/* Beginning and end of a program, number and count of threads, and what happens to a wrong call. */

/* The parts of an error message. An empty string stands for a part that the error does not have. */
typedef struct weft_error_info_t {
  const char* call;     /* the function that was called */
  const char* argument; /* the argument that was wrong */
  const char* value;    /* what was given */
  const char* rule;     /* what is asked for, and the way out */
} weft_error_info_t;

/* Called by the C forms of all functions when a call fails, on the calling thread. `message` is one line
 * without a newline; both arguments live until the handler returns. A handler that returns makes the failed
 * function return 0 or a null pointer, a negative number where 0 would say something else; docs/semantics.md
 * has the table. It may leave by longjmp. */
typedef void (*weft_error_handler_t)(const char* message, const weft_error_info_t* info);

/* What a program brings whose processes are together already, as those of an MPI communicator are. The
 * functions are called on the thread that calls weft_init_with, weft_team_with or weft_finalize, `abort` on
 * any. They return 0, or anything else for a failure. */
typedef struct weft_exchange_t {
  void* context; /* is handed to each of them */
  int rank, size;
  /* Collective: gathers nbytes bytes from each, which lie in `all` in the order of the ranks. */
  int (*allgather)(void* context, const void* mine, size_t nbytes, void* all);
  /* Returns when all have called it. Where a process has died it fails, or never returns. */
  int (*barrier)(void* context);
  /* Ends all processes with this status; may return. `why` is one line. */
  void (*abort)(void* context, int status, const char* why);
} weft_exchange_t;

#ifdef __cplusplus
namespace weft {
#endif

/* Starts the library: finds the job, maps the shared heap and allocates the shared arrays that were
 * registered before, in the order of their registration. Collective over all threads, once, before every
 * other call. argc, argv: as given to main; both may be null. They are not changed. Errors: called twice, or
 * after weft_finalize; no room for the registered arrays. */
WEFT_EXPORT void weft_init(int* argc, char*** argv);

/* The same without a launcher that speaks PMIx: the threads of the job are the processes that have this
 * exchange, with their ranks in it. An extension. It is called inside weft_finalize, too, and so must last
 * until then. Errors: as weft_init; exchange or one of its functions is null; rank is not from 0 to size - 1;
 * one of its functions fails. weft/mpi.h calls it for programs of MPI. */
WEFT_EXPORT void weft_init_with(const weft_exchange_t* exchange);

/* Ends the library for good. Collective: waits for all threads. What is outstanding and was not completed is
 * abandoned. Shared memory is gone afterwards, and every other call an error. Errors: weft_init was
 * not called, or this is a function that a collective has called; it could not end together with all others,
 * because one has died: the library has ended even so. */
WEFT_EXPORT void weft_finalize(void);

/* Ends the whole job with this status, of which the low 8 bits count, as of exit: what the calling process
 * has in its output streams is written, then all threads are ended, whatever they are doing, within seconds
 * and without their handlers of atexit (UPC 1.3, 7.2.1). Any thread of any process may call it, at any time.
 * Before weft_init and after weft_finalize it ends the calling process. Does not return, has no errors. */
WEFT_EXPORT __attribute__((noreturn)) void upc_global_exit(int status);

/* Installs the handler for failed calls of the C interface and returns the one before. A null pointer brings
 * back the default, which prints the message to stderr and ends the whole job with a non-zero status. The C++
 * interface throws weft::error and calls no handler. May be called before weft_init. */
WEFT_EXPORT weft_error_handler_t weft_set_error_handler(weft_error_handler_t handler);

/* The present value of one of the library's counters on this thread, 0 for an unknown name. The names are
 * those that the setting WEFT_STATISTICS prints at the end. Errors: name is null;
 * before weft_init or after weft_finalize. */
WEFT_EXPORT uint64_t weft_statistic(const char* name);

/* The value of a setting in the environment of this process, as a number: bytes of a size, a count, 1 or 0 of
 * a flag, the place of a word among those that are allowed, from 0. May be called before weft_init. Errors:
 * name is null or no setting; a value in the environment is none that is allowed. */
WEFT_EXPORT uint64_t weft_setting(const char* name);

/* The number of this thread, 0 to upc_threads() - 1; one process is one thread (UPC 1.3, 6.3.2).
 * Errors: before weft_init or after weft_finalize. */
WEFT_EXPORT int upc_mythread(void);

/* The number of threads of the job (UPC 1.3, 6.3.1). Errors: as upc_mythread. */
WEFT_EXPORT int upc_threads(void);

#ifdef __cplusplus
}
#endif

#ifndef WEFT_NO_GLOBAL_NAMES
#define MYTHREAD (upc_mythread())
#define THREADS (upc_threads())
#endif

#if WEFT_GLOBAL_NAMES
using weft::upc_global_exit;
using weft::upc_mythread;
using weft::upc_threads;
using weft::weft_finalize;
using weft::weft_init;
using weft::weft_init_with;
using weft::weft_set_error_handler;
using weft::weft_setting;
using weft::weft_statistic;
#endif
