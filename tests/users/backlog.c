/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A backlog: each thread posts exchanges, gathers and scatters of blocks of all lengths, as many as a team
 * has room for and more, and completes the oldest when it needs its place. Threads pause when they like, so
 * some are far ahead of their neighbours. A byte says from whom it is, for whom and in which call.
 *
 * usage: backlog CALLS SEED
 *
 * Mutations that this catches: what a thread waits for that is to tell a neighbour that a block was read is
 * listed as a message to another host. */
#include "tests/jobs/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <upc_collective_cray.h>

enum { under_way = 60, longest = 3000, most_threads = 64 };
enum kind { to_each, to_root, from_root, to_all, kinds };

struct parcel {
  enum kind what;
  unsigned number, root, scale;
  upc_handle_t handle;
  int posted;
  unsigned char *given, *taken;
  size_t gives[most_threads], takes[most_threads];
  ptrdiff_t places[most_threads];
};

static uint64_t state;
static unsigned draw(unsigned below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(state >> 33) % below;
}

/* Of one block for all the second thread is 0. */
static size_t length(const struct parcel* p, unsigned from, unsigned to) {
  const unsigned x = from * 131 + to * 71 + p->number * 7;
  return x % 5 == 0 ? 0 : x % p->scale;
}
static unsigned char item(const struct parcel* p, unsigned from, unsigned to, size_t k) {
  return (unsigned char)(from * 7 + to * 13 + p->number * 29 + (unsigned)k);
}

static void post(struct parcel* p) {
  const unsigned me = (unsigned)MYTHREAD, threads = (unsigned)THREADS;
  const int to_one = p->what == to_root, one_block = to_one || p->what == to_all;
  for (unsigned t = 0; t != threads; ++t) {
    const unsigned receiver = to_one ? p->root : one_block ? 0 : t;
    p->places[t] = (ptrdiff_t)t * longest;
    p->gives[t] = length(p, me, receiver);
    p->takes[t] = length(p, p->what == from_root ? p->root : t, to_one ? p->root : one_block ? 0 : me);
    for (size_t k = 0; k != p->gives[t]; ++k)
      p->given[(size_t)p->places[t] + k] = item(p, me, receiver, k);
  }
  const upc_shared_ptr_t to = weft_pointer_to(p->taken), from = weft_pointer_to(p->given);
  const int root = (int)p->root;
  switch (p->what) {
  case to_each:
    cray_upc_team_alltoallv(to, p->takes, p->places, from, p->gives, p->places, UPC_TEAM_ALL, &p->handle);
    break;
  case to_root:
    cray_upc_team_gatherv(to, p->takes, p->places, from, p->gives[0], root, UPC_TEAM_ALL, &p->handle);
    break;
  case from_root:
    cray_upc_team_scatterv(to, p->takes[me], from, p->gives, p->places, root, UPC_TEAM_ALL, &p->handle);
    break;
  default:
    cray_upc_team_allgatherv(to, p->takes, p->places, from, p->gives[0], UPC_TEAM_ALL, &p->handle);
  }
  p->posted = 1;
}

/* How many bytes are wrong. */
static int complete(struct parcel* p) {
  if (!p->posted) return 0;
  p->posted = 0;
  upc_sync(p->handle);
  const unsigned me = (unsigned)MYTHREAD, threads = p->what == from_root ? 1 : (unsigned)THREADS;
  const int one_block = p->what == to_root || p->what == to_all;
  int wrong = 0;
  if (p->what == to_root && me != p->root) return 0;
  for (unsigned t = 0; t != threads; ++t) {
    const unsigned from = p->what == from_root ? p->root : t;
    const unsigned to = p->what == to_root ? p->root : one_block ? 0 : me;
    for (size_t k = 0; k != length(p, from, to); ++k)
      wrong += p->taken[(size_t)t * longest + k] != item(p, from, to, k);
  }
  return wrong;
}

WEFT_SUITE(backlog) {
  static struct parcel all[under_way];
  const unsigned calls = argc > 1 ? (unsigned)atoi(argv[1]) : 300, scales[] = {20, 300, longest};
  int wrong = 0;
  state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  uint64_t own = (uint64_t)MYTHREAD * 77 + 5;
  for (unsigned k = 0; k != under_way; ++k) {
    all[k].given = malloc((size_t)THREADS * longest);
    all[k].taken = malloc((size_t)THREADS * longest);
  }
  for (unsigned c = 0; c != calls; ++c) {
    struct parcel* const p = &all[c % under_way];
    wrong += complete(p);
    p->what = (enum kind)draw(kinds);
    p->number = c;
    p->root = draw((unsigned)THREADS);
    p->scale = scales[draw(3)];
    post(p);
    own = own * 6364136223846793005u + 1442695040888963407u;
    if ((own >> 33) % 40 == 0)
      thrd_sleep(&(struct timespec){.tv_nsec = (long)((own >> 40) % 3000) * 1000}, NULL);
  }
  for (unsigned k = 0; k != under_way; ++k) {
    wrong += complete(&all[(calls + k) % under_way]);
  }
  for (unsigned k = 0; k != under_way; ++k) {
    free(all[k].given);
    free(all[k].taken);
  }
  if (wrong != 0) printf("rank %d: %d bytes are wrong\n", MYTHREAD, wrong);
  return wrong != 0;
}
