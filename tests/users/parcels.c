/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Parcels: each thread has a list of letters in memory of malloc, addressed to others, and they are sent in one
 * exchange while the next round's are written. How many there are, and the longest, the threads find out by
 * reductions of variables on the stack. A letter says from whom it is and in which round, and all letters of a
 * thread come once: that is counted.
 *
 * At the end each sends a crate to every other one, so large that it is copied behind the call: where no thread
 * but this one moves things on, that is seen.
 *
 * usage: parcels ROUNDS
 *
 * Mutations that this catches: an exchange that reads a small source after the call has returned, a post that
 * copies a large one. */
#include "tests/jobs/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upc_collective_cray.h>

struct letter {
  int from, round, number;
};

/* So many letters from one thread to another one in a round; some get none, some thousands. */
static size_t count(int from, int to, int round) {
  const unsigned x = (unsigned)(from * 31 + to * 17 + round * 7);
  return x % 5 == 0 ? 0 : x % 7 == 0 ? 3000 + x : x % 11;
}

struct side {
  size_t* bytes;
  ptrdiff_t* places;
  size_t all;
};

static struct side lay_out(int round, int outgoing) {
  struct side s = {malloc(sizeof(size_t) * (size_t)THREADS), malloc(sizeof(ptrdiff_t) * (size_t)THREADS), 0};
  for (int t = 0; t != THREADS; ++t) {
    s.places[t] = (ptrdiff_t)s.all;
    s.bytes[t] = sizeof(struct letter) * (outgoing ? count(MYTHREAD, t, round) : count(t, MYTHREAD, round));
    s.all += s.bytes[t];
  }
  return s;
}

static void forget(struct side s) {
  free(s.bytes);
  free(s.places);
}

static int wrong_letters(const struct letter* got, int round) {
  int wrong = 0;
  for (int from = 0; from != THREADS; ++from)
    for (size_t k = 0; k != count(from, MYTHREAD, round); ++k, ++got)
      wrong += got->from != from || got->round != round || got->number != (int)k;
  return wrong;
}

/* 3 MiB for all others together, at places in another order than the ranks; the own one is empty. */
static int crates(void) {
  const size_t threads = (size_t)THREADS, each = ((size_t)3 << 20) / (threads > 1 ? threads - 1 : 1);
  char *const given = malloc(each * threads), *const taken = malloc(each * threads);
  size_t* const bytes = malloc(sizeof(size_t) * threads);
  ptrdiff_t* const places = malloc(sizeof(ptrdiff_t) * threads);
  for (size_t t = 0; t != threads; ++t) {
    bytes[t] = t == (size_t)MYTHREAD ? 0 : each;
    places[t] = (ptrdiff_t)((threads - 1 - t) * each);
    memset(given + places[t], 16 * MYTHREAD + (int)t, each);
  }
  const uint64_t before = weft_statistic("bytes_staged");
  upc_handle_t sent = 0;
  cray_upc_team_alltoallv(weft_pointer_to(taken), bytes, places, weft_pointer_to(given), bytes, places, UPC_TEAM_ALL,
                          &sent);
  const uint64_t in_post = weft_statistic("bytes_staged") - before;
  upc_sync(sent);
  const char* const progress = getenv("WEFT_PROGRESS");
  const int alone = progress != NULL && strcmp(progress, "caller") == 0 && !weft_setting("WEFT_CHECK");
  int wrong = alone && in_post != 0;
  if (wrong) printf("thread %d: the post has copied %zu bytes\n", MYTHREAD, (size_t)in_post);
  for (size_t t = 0; t != threads; ++t)
    for (size_t k = 0; k != bytes[t]; ++k)
      wrong += taken[places[t] + (ptrdiff_t)k] != (char)(16 * (int)t + MYTHREAD);
  free(given);
  free(taken);
  free(bytes);
  free(places);
  return wrong;
}

WEFT_SUITE(parcels) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 10;
  int failures = 0;
  struct letter* const desk = malloc(sizeof(struct letter) * 8000 * (size_t)THREADS); /* written again and again */
  for (int round = 0; round != rounds; ++round) {
    struct side out = lay_out(round, 1), in = lay_out(round, 0);
    struct letter *next = desk, *const got = malloc(in.all + 1);
    for (int to = 0; to != THREADS; ++to)
      for (size_t k = 0; k != count(MYTHREAD, to, round); ++k)
        *next++ = (struct letter){MYTHREAD, round, (int)k};
    upc_handle_t sent = 0, counted = 0;
    cray_upc_team_alltoallv(weft_pointer_to(got), in.bytes, in.places, weft_pointer_to(desk), out.bytes, out.places,
                            UPC_TEAM_ALL, &sent);
    memset(desk, 0xff, out.all); /* in C what is given is this thread's again */
    unsigned long mine[2] = {out.all, in.all}, all[2] = {0, 0}, most = out.all;
    cray_upc_team_allreduce(weft_pointer_to(all), weft_pointer_to(mine), 2, CRAY_UPC_ULONG, UPC_ADD, UPC_TEAM_ALL,
                            &counted);
    mine[0] = mine[1] = 0;
    cray_upc_team_allreduce(UPC_SHARED_NULL, weft_pointer_to(&most), 1, CRAY_UPC_ULONG, UPC_MAX, UPC_TEAM_ALL, NULL);
    upc_sync(sent);
    upc_sync(counted);
    const int wrong = wrong_letters(got, round);
    if (wrong != 0 || all[0] != all[1] || most < out.all) {
      printf("thread %d, round %d: %d letters are wrong, %lu bytes sent and %lu received, at most %lu\n", MYTHREAD,
             round, wrong, all[0], all[1], most);
      ++failures;
    }
    free(got);
    forget(out);
    forget(in);
  }
  free(desk);
  if (crates() != 0) {
    printf("thread %d: crates are wrong\n", MYTHREAD);
    ++failures;
  }
  upc_barrier();
  return failures == 0 ? 0 : 1;
}
