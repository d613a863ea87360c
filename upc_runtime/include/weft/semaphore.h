// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <stddef.h>
#include <upc.h>

/* Counting semaphores in shared memory: Berkeley's extension of UPC (upc_memput_signal and point-to-point
 * synchronisation, its proposal of 2005). A thread posts, another waits, and no third one takes part.
 *
 * A program of C that weftcc has not made calls upcr_begin(NULL, 0) of upcr.h behind weft_init.
 *
 * Where UPC has `bupc_sem_t*`, C has a value, like upc_lock_t. What a thread wrote into shared memory before
 * it posts is there for the thread whose wait that post has ended. Errors of all: a null one; n is 0 or more
 * than BUPC_SEM_MAXVALUE; n is not 1 and it is BUPC_SEM_BOOLEAN. */
#ifdef __UPC__
typedef shared struct weft_semaphore bupc_sem_t;
typedef bupc_sem_t* weft_semaphore_t;
#else
typedef upc_shared_ptr_t bupc_sem_t;
typedef bupc_sem_t weft_semaphore_t;
#endif

/* What it counts to: one, or BUPC_SEM_MAXVALUE. */
#define BUPC_SEM_BOOLEAN 1
#define BUPC_SEM_INTEGER 2
/* Whether one thread posts, or several; waits, or several do. Hints. */
#define BUPC_SEM_SPRODUCER 4
#define BUPC_SEM_MPRODUCER 8
#define BUPC_SEM_SCONSUMER 16
#define BUPC_SEM_MCONSUMER 32
#define BUPC_SEM_MASK 63
#define BUPC_SEM_MAXVALUE 65535

#ifdef __cplusplus
extern "C" {
#endif

/* A new one with the count 0, on the calling thread, where waiting for it is cheapest. 0 stands for an
 * integer one of several producers and consumers. Errors: unknown flags, or two of a pair; no room in the
 * heap. */
WEFT_EXPORT weft_semaphore_t bupc_sem_alloc(int flags);
/* Any thread, once; no thread waits for it any more. A null one is ignored. */
WEFT_EXPORT void bupc_sem_free(weft_semaphore_t s);

/* Adds 1 or n. A boolean one stays 1. */
WEFT_EXPORT void bupc_sem_post(weft_semaphore_t s);
WEFT_EXPORT void bupc_sem_postN(weft_semaphore_t s, size_t n);
/* Returns when it has taken 1 or n. */
WEFT_EXPORT void bupc_sem_wait(weft_semaphore_t s);
WEFT_EXPORT void bupc_sem_waitN(weft_semaphore_t s, size_t n);
/* 1 if it has taken them, 0 if there are not as many; never waits. */
WEFT_EXPORT int bupc_sem_try(weft_semaphore_t s);
WEFT_EXPORT int bupc_sem_tryN(weft_semaphore_t s, size_t n);

/* upc_memput, and behind it a post: who waits has the bytes. The source may be changed when the first one
 * returns; the second one may return earlier than that. */
WEFT_EXPORT void bupc_memput_signal(upc_shared_ptr_t dst, const void* src, size_t nbytes, weft_semaphore_t s,
                                    size_t n);
WEFT_EXPORT void bupc_memput_signal_async(upc_shared_ptr_t dst, const void* src, size_t nbytes,
                                          weft_semaphore_t s, size_t n);

#ifdef __cplusplus
}
#endif
