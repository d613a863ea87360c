// SPDX-License-Identifier: BSD-3-Clause
/* Strided copies beside loops over bytes, and semaphores between neighbours. */
#include "tests/upc/check.h"

#include <sched.h>
#include <time.h>

enum { room = 2048 };
static unsigned char private_memory[room], expected[room], read[room];

static void prepare(upcr_shared_ptr_t at, int seed) {
  for (int i = 0; i != room; ++i) {
    private_memory[i] = (unsigned char)(i * 7 + seed);
    expected[i] = 0xee;
  }
  upcr_memset(at, 0xee, room);
}
static int as_expected(upcr_shared_ptr_t at) {
  upcr_memget(read, at, room);
  return memcmp(read, expected, room) == 0;
}

/* Chunks of 6 bytes at one end and of 4 at the other. */
static void chunks(upcr_shared_ptr_t a, upcr_shared_ptr_t b) {
  prepare(a, 1);
  for (int i = 0; i != 48; ++i)
    expected[i / 4 * 9 + i % 4] = private_memory[i / 6 * 10 + i % 6];
  bupc_memput_fstrided(a, 4, 9, 12, private_memory, 6, 10, 8);
  CHECK(as_expected(a));
  memset(read, 0, sizeof read);
  upcr_wait_syncnb(bupc_memget_fstrided_async(read, 12, 20, 4, a, 4, 9, 12));
  for (int i = 0; i != 48; ++i)
    CHECK(read[i / 12 * 20 + i % 12] == private_memory[i / 6 * 10 + i % 6]);
  upcr_memset(b, 0xee, room);
  bupc_waitsync(bupc_memcpy_fstrided_async(b, 4, 9, 12, a, 4, 9, 12));
  CHECK(as_expected(b));
  bupc_waitsync(bupc_memput_fstrided_async(b, 48, 48, 1, private_memory, 48, 0, 1));
  bupc_memcpy_fstrided(a, 48, 48, 1, b, 48, 48, 1);
  bupc_memget_fstrided(read, 48, 48, 1, a, 48, 48, 1);
  CHECK(memcmp(read, private_memory, 48) == 0);
  REPORTED(bupc_memput_fstrided(a, 4, 9, 12, private_memory, 6, 10, 9), "as many bytes");
  REPORTED(bupc_memput_fstrided(a, 4, 3, 12, private_memory, 6, 10, 8), "dstchunkstride = 3");
  REPORTED(bupc_memget_fstrided(read, 6, 10, 8, a, 4, 3, 12), "srcchunkstride = 3");
}

/* A box of 5 bytes x 4 x 3 out of another one. */
static void levels(upcr_shared_ptr_t a, upcr_shared_ptr_t b) {
  const size_t count[] = {5, 4, 3}, wide[] = {11, 100}, narrow[] = {5, 20};
  prepare(a, 2);
  for (size_t z = 0; z != 3; ++z)
    for (size_t y = 0; y != 4; ++y)
      for (size_t x = 0; x != 5; ++x)
        expected[z * 100 + y * 11 + x] = private_memory[z * 20 + y * 5 + x];
  bupc_memput_strided(a, wide, private_memory, narrow, count, 2);
  CHECK(as_expected(a));
  upcr_memset(b, 0xee, room);
  bupc_memcpy_strided(b, wide, a, wide, count, 2);
  CHECK(as_expected(b));
  memset(read, 0, sizeof read);
  bupc_memget_strided(read, narrow, b, wide, count, 2);
  CHECK(memcmp(read, private_memory, 60) == 0);
  upcr_handle_t h[] = {bupc_memput_strided_async(a, narrow, private_memory + 300, narrow, count, 2),
                       bupc_memget_strided_async(read, narrow, b, wide, count, 2)};
  upcr_wait_syncnb_all(h, 2);
  upcr_wait_syncnb(bupc_memcpy_strided_async(b, narrow, a, narrow, count, 2));
  CHECK(memcmp(read, private_memory, 60) == 0);
  upcr_memget(read, b, 60);
  CHECK(memcmp(read, private_memory + 300, 60) == 0);
  /* In a region of the program's, whose copies are its own. */
  upcr_begin_nbi_accessregion();
  upcr_nbi_memput(a, private_memory, 30);
  bupc_memget_strided(read, narrow, b, narrow, count, 2);
  upcr_wait_syncnb(upcr_end_nbi_accessregion());
  CHECK(memcmp(read, private_memory + 300, 60) == 0);
  const size_t short_ones[] = {4, 100};
  REPORTED(bupc_memput_strided(a, short_ones, private_memory, narrow, count, 2), "dststrides");
  REPORTED(bupc_memget_strided(read, narrow, a, short_ones, count, 2), "srcstrides");
}

/* Pieces of 1 to 9 bytes, of two threads, against pieces of other lengths; some are empty. */
static void lists(upcr_shared_ptr_t a, upcr_shared_ptr_t b) {
  static const size_t to_lengths[] = {9, 0, 1, 6, 4, 8}, from_lengths[] = {2, 5, 0, 0, 7, 14};
  bupc_smemvec_t to[6], there[6], copy[6];
  bupc_pmemvec_t from[6], back[6];
  unsigned char plain[28];
  size_t at = 0;
  prepare(a, 3);
  upcr_memset(b, 0xee, room);
  for (size_t i = 0; i != 6; ++i) {
    const bupc_smemvec_t piece = {upcri_at(i % 2 == 0 ? a : b, (ptrdiff_t)(i * 40)), to_lengths[i]};
    const bupc_smemvec_t beyond = {upcri_at(piece.addr, 1000), from_lengths[i]};
    const bupc_pmemvec_t own = {private_memory + i * 50, from_lengths[i]};
    const bupc_pmemvec_t where = {read + 300 + i * 30, from_lengths[5 - i]};
    memcpy(plain + at, own.addr, own.len);
    at += own.len;
    there[i] = to[i] = piece;
    copy[i] = beyond;
    from[i] = own;
    back[i] = where;
  }
  CHECK(at == sizeof plain);
  bupc_memput_vlist(6, to, 6, from);
  bupc_waitsync(bupc_memcpy_vlist_async(6, copy, 6, to));
  memset(read, 0xee, sizeof read);
  bupc_memget_vlist(6, back, 6, copy);
  at = 0;
  for (size_t i = 0; i != 6; at += back[i++].len) {
    CHECK(memcmp(back[i].addr, plain + at, back[i].len) == 0);
    CHECK(((unsigned char*)back[i].addr)[back[i].len] == 0xee);
  }
  upcr_memget(read, a, 41);
  CHECK(memcmp(read, plain, 9) == 0 && read[9] == 0xee && read[40] == 0xee);
  /* By one length: 4 pieces of 6 against 3 of 8. */
  const upcr_shared_ptr_t four[] = {upcri_at(b, 500), upcri_at(a, 600), upcri_at(b, 507), upcri_at(a, 610)};
  const upcr_shared_ptr_t three[] = {upcri_at(a, 700), upcri_at(b, 710), upcri_at(a, 708)};
  const void* const sources[] = {private_memory + 20, private_memory, private_memory + 100};
  void* const targets[] = {read, read + 100, read + 50, read + 150};
  bupc_memput_ilist(4, four, 6, 3, sources, 8);
  bupc_memcpy_ilist(3, three, 8, 4, four, 6);
  memset(read, 0xee, sizeof read);
  bupc_memget_ilist(4, targets, 6, 3, three, 8);
  for (size_t i = 0; i != 24; ++i)
    CHECK(((unsigned char*)targets[i / 6])[i % 6] == ((const unsigned char*)sources[i / 8])[i % 8]);
  CHECK(read[6] == 0xee && read[56] == 0xee);
  upcr_handle_t h[] = {bupc_memput_vlist_async(6, there, 6, from), bupc_memget_vlist_async(6, back, 6, copy),
                       bupc_memput_ilist_async(4, four, 6, 3, sources, 8),
                       bupc_memget_ilist_async(4, targets, 6, 3, three, 8)};
  upcr_wait_syncnb_all(h, 4);
  bupc_memcpy_vlist(6, copy, 6, to);
  bupc_waitsync(bupc_memcpy_ilist_async(0, NULL, 6, 0, NULL, 8));
  REPORTED(bupc_memput_vlist(6, to, 5, from), "14 and 28 bytes");
  REPORTED(bupc_memget_ilist(4, targets, 6, 3, three, 7), "as many bytes as dstlist");
  REPORTED(bupc_memget_ilist(4, NULL, 6, 3, three, 8), "dstlist = null");
}

/* Letters round the ring, each behind its own post; every thread is a producer and a consumer. */
static void semaphores(upcr_shared_ptr_t letters, upcr_shared_ptr_t names) {
  static const int kinds[] = {0, BUPC_SEM_INTEGER | BUPC_SEM_SPRODUCER | BUPC_SEM_SCONSUMER,
                              BUPC_SEM_BOOLEAN | BUPC_SEM_MPRODUCER | BUPC_SEM_MCONSUMER};
  const int right = (MYTHREAD + 1) % THREADS, left = (MYTHREAD + THREADS - 1) % THREADS;
  for (int kind = 0; kind != 3; ++kind) {
    bupc_sem_t full = bupc_sem_alloc(kinds[kind]), empty = bupc_sem_alloc(kinds[kind]), next, room_there;
    const bupc_sem_t pair[2] = {full, empty};
    upcr_memput(on(names, MYTHREAD), pair, sizeof pair);
    bupc_sem_post(empty);
    CHECK(bupc_sem_try(full) == 0);
    barrier();
    upcr_get_shared(&next, on(names, right), 0, sizeof next);
    upcr_get_shared(&room_there, on(names, right), sizeof next, sizeof room_there);
    for (int round = 0; round != 30; ++round) {
      const int letter = round * 100 + MYTHREAD;
      int got = 0;
      bupc_sem_wait(room_there); /* the neighbour has read the one before */
      if (round % 2)
        bupc_memput_signal(on(letters, right), &letter, sizeof letter, next, 1);
      else
        bupc_memput_signal_async(on(letters, right), &letter, sizeof letter, next, 1);
      bupc_sem_wait(full);
      upcr_get_shared(&got, on(letters, MYTHREAD), 0, sizeof got);
      CHECK(got == round * 100 + left);
      bupc_sem_post(empty);
    }
    barrier();
    if (kind != 2) {
      bupc_sem_postN(next, 5);
      bupc_sem_waitN(full, 3);
      while (!bupc_sem_tryN(full, 2))
        sched_yield();
      CHECK(bupc_sem_tryN(full, 1) == 0);
      REPORTED(bupc_sem_postN(full, BUPC_SEM_MAXVALUE + 1), "from 1 to 65535");
    } else {
      bupc_sem_post(full);
      bupc_sem_post(full);
      CHECK(bupc_sem_try(full) == 1 && bupc_sem_try(full) == 0);
      REPORTED(bupc_sem_waitN(full, 2), "boolean");
    }
    barrier();
    bupc_sem_free(full);
    bupc_sem_free(empty);
  }
  REPORTED((void)bupc_sem_alloc(BUPC_SEM_BOOLEAN | BUPC_SEM_INTEGER), "two of a pair");
  REPORTED((void)bupc_sem_alloc(BUPC_SEM_MASK + 1), "unknown");
  REPORTED(bupc_sem_post(upcr_null_shared), "null");
  bupc_sem_free(upcr_null_shared);
}

/* One that all post and all wait for: nothing is taken twice. */
static void shared_semaphore(upcr_shared_ptr_t names) {
  enum { each = 300 };
  bupc_sem_t s = upcr_null_shared;
  if (MYTHREAD == 0) {
    s = bupc_sem_alloc(0);
    upcr_memput(on(names, 0), &s, sizeof s);
  }
  barrier();
  upcr_memget(&s, on(names, 0), sizeof s);
  for (int i = 0; i != each; ++i) {
    bupc_sem_post(s);
    bupc_sem_wait(s);
  }
  barrier();
  CHECK(bupc_sem_try(s) == 0);
  barrier();
  if (MYTHREAD == 0) bupc_sem_free(s);
}

WEFT_SUITE(upc_copies) {
  begin_without_units();
  const size_t threads = (size_t)THREADS;
  const upcr_shared_ptr_t a = upcr_all_alloc(threads, room * threads),
                          b = upcr_all_alloc(threads, room * threads);
  for (int t = 0; t != THREADS; ++t) {
    upcr_shared_ptr_t to = on(a, t), other = on(b, (t + 1) % THREADS);
    to.addr += (uint64_t)MYTHREAD * room;
    other.addr += (uint64_t)MYTHREAD * room;
    chunks(to, other);
    levels(to, other);
    lists(to, other);
  }
  barrier();
  semaphores(a, b);
  shared_semaphore(b);
  barrier();
  upcr_all_free(a);
  upcr_all_free(b);
  return failures == 0 ? 0 : 1;
}

/* A collective that was posted goes on while all threads do nothing but read and write shared memory: loads
 * and stores, no call. Each waits by such reads for the last word of its part, so if nothing moved it would
 * wait for ever; after half a minute it has failed. */
enum { words = 8192 };

static upcr_shared_ptr_t word(upcr_shared_ptr_t array, int thread, size_t i) {
  upcr_shared_ptr_t p = on(array, thread);
  p.addr += i * 8;
  return p;
}

WEFT_SUITE(upc_async) {
  begin_without_units();
  const size_t block = words * 8, threads = (size_t)THREADS;
  const upcr_shared_ptr_t src = upcr_all_alloc(threads, threads * block),
                          dst = upcr_all_alloc(threads, threads * block);
  const upcr_shared_ptr_t work = upcr_all_alloc(threads, 800);
  upcr_memset(on(dst, MYTHREAD), 0, threads * block);
  upcr_memset(on(work, MYTHREAD), 0, 800);
  for (size_t i = 0; i != threads * words; ++i)
    UPCR_PUT_SHARED_VAL(word(src, MYTHREAD, i), 0, (uint64_t)(MYTHREAD + 1) << 32 | i, 8);
  barrier();
  upc_coll_handle_t h = upc_all_exchange(dst, src, block, UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
  const time_t begin = time(NULL);
  size_t arrived = 0;
  uint64_t rounds = 0;
  while (arrived != threads && time(NULL) - begin < 30) {
    for (size_t i = 0; i != 100; ++i) /* the computation */
      UPCR_PUT_SHARED_VAL(word(work, MYTHREAD, i), 0, UPCR_GET_SHARED_VAL(word(work, MYTHREAD, i), 0, 8) + i,
                          8);
    ++rounds;
    if (UPCR_GET_SHARED_VAL(word(dst, MYTHREAD, (arrived + 1) * words - 1), 0, 8) != 0) ++arrived;
  }
  CHECK(arrived == threads);
  CHECK(UPCR_GET_SHARED_VAL(word(work, MYTHREAD, 99), 0, 8) == rounds * 99);
  weft_wait_handle(&h);
  for (size_t t = 0; t != threads; ++t)
    for (size_t i = 0; i != words; ++i)
      CHECK(UPCR_GET_SHARED_VAL(word(dst, MYTHREAD, t * words + i), 0, 8) ==
            ((uint64_t)(t + 1) << 32 | ((size_t)MYTHREAD * words + i)));
  barrier();
  upcr_all_free(work);
  upcr_all_free(dst);
  upcr_all_free(src);
  return failures == 0 ? 0 : 1;
}
