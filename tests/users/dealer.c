// SPDX-License-Identifier: BSD-3-Clause
/* A program as its user would write it, in C: rounds of cards. In each round another thread deals, a third
 * one keeps the score, and all others only play, which is to compute, until the barrier. No card may be lost
 * or come twice; the sums must be those of a deck. */
#include "tests/jobs/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <upc.h>
#include <upc_castable.h>
#include <upc_collective.h>
#include <upc_one_sided.h>

enum { suits = 3 };

struct card {
  unsigned short rank;
  unsigned char suit;
  unsigned char back[5];
};

static int hand, deck; /* cards of a thread, and of all */
static int wrong = 0;

static void expect(int holds, const char* what, int round) {
  if (holds) return;
  if (wrong++ < 5) printf("thread %d, round %d: %s\n", MYTHREAD, round, what);
}

static upc_shared_ptr_t at(upc_shared_ptr_t p, int thread) {
  p.thread = (unsigned)thread;
  p.phase = 0;
  return p;
}
static void* mine(upc_shared_ptr_t p) {
  return upc_cast(at(p, MYTHREAD));
}

static void shuffle(struct card* cards, unsigned seed) {
  int i;
  for (i = 0; i < deck; ++i) {
    memset(&cards[i], 0x5a, sizeof cards[i]);
    cards[i].rank = (unsigned short)(i / suits);
    cards[i].suit = (unsigned char)(i % suits);
  }
  for (i = deck - 1; i > 0; --i) {
    struct card other;
    seed = seed * 1103515245u + 12345u;
    other = cards[i];
    cards[i] = cards[(seed >> 8) % (unsigned)(i + 1)];
    cards[(seed >> 8) % (unsigned)(i + 1)] = other;
  }
}

static long long value_of(const struct card* cards, int count) {
  long long sum = 0;
  int i;
  for (i = 0; i < count; ++i)
    sum += (long long)cards[i].rank * suits + cards[i].suit;
  return sum;
}

static volatile unsigned long played;
static void play(unsigned long turns) {
  while (turns-- != 0)
    played = played * 3 + 1;
}

static int complete(const struct card* cards) {
  int i, whole = 1;
  char* seen = (char*)calloc((size_t)deck, 1);
  for (i = 0; i < deck; ++i) {
    const int number = cards[i].rank * suits + cards[i].suit;
    whole = whole && number < deck && cards[i].back[4] == 0x5a && seen[number]++ == 0;
  }
  free(seen);
  return whole;
}

WEFT_SUITE(dealer) {
  int round, rounds, me, threads, *even, evens = 0, t;
  upc_shared_ptr_t pack, hands, table, worth, before, best, news;
  size_t bytes;
  me = MYTHREAD;
  threads = THREADS;
  rounds = argc > 1 ? atoi(argv[1]) : 20;
  hand = argc > 2 ? atoi(argv[2]) : 7;
  deck = hand * threads;
  bytes = (size_t)hand * sizeof(struct card);
  even = (int*)malloc((size_t)threads * sizeof *even);
  for (t = threads - 1; t >= 0; --t)
    if (t % 2 == 0) even[evens++] = t; /* downwards */

  pack = upc_all_alloc((size_t)threads, bytes * (size_t)threads);
  hands = upc_all_alloc((size_t)threads, bytes);
  table = upc_all_alloc((size_t)threads, bytes * (size_t)threads);
  worth = upc_all_alloc((size_t)threads, sizeof(long long));
  before = upc_all_alloc((size_t)threads, sizeof(long long));
  best = upc_all_alloc((size_t)threads, sizeof(long long));
  news = upc_all_alloc((size_t)threads, 2 * sizeof(long long));

  for (round = 0; round < rounds; ++round) {
    const int dealer = round % threads, keeper = (round + 1) % threads, owner = (round + 2) % threads;
    const long long all = (long long)deck * (deck - 1) / 2;
    memset(mine(hands), 0, bytes);
    if (me == owner) shuffle((struct card*)mine(pack), (unsigned)round * 7u + 1u);
    upc_barrier();
    /* The deck lies with its owner, and the dealer need not be he. */
    if (me == dealer)
      upc_scatter(hands, at(pack, owner), bytes);
    else
      play(20000);
    upc_barrier();
    *(long long*)mine(worth) = value_of((const struct card*)mine(hands), hand);
    upc_barrier();
    if (me == keeper) {
      upc_coll_handle_t open[3];
      long long sum;
      open[0] = upc_gather_team(at(table, keeper), hands, bytes, UPC_ASYNC, UPC_TEAM_ALL);
      open[1] = upc_xprefix_reduce_team(before, worth, UPC_LLONG, UPC_ADD, (size_t)threads, 1, UPC_ASYNC,
                                        UPC_TEAM_ALL);
      open[2] = upc_reduce_threads(at(best, owner), at(worth, even[0]), UPC_LLONG, UPC_MAX, (size_t)evens, 1,
                                   UPC_ASYNC, even, (size_t)evens);
      upc_reduce(at(news, keeper), worth, UPC_LLONG, UPC_ADD);
      upc_waitall(3, open);
      sum = *(long long*)mine(news);
      expect(sum == all, "the cards have not the worth of a deck", round);
      expect(complete((const struct card*)mine(table)), "a card is missing on the table", round);
      ((long long*)mine(news))[1] = round;
      upc_broadcast_in_place(at(news, keeper), 2 * sizeof(long long));
    } else {
      play(30000);
    }
    upc_barrier();
    expect(((long long*)mine(news))[0] == all, "the news are wrong", round);
    expect(((long long*)mine(news))[1] == round, "the news are old", round);
    if (me != 0) {
      long long sum = 0, one;
      for (t = 0; t < me; ++t) {
        upc_memget(&one, at(worth, t), sizeof one);
        sum += one;
      }
      expect(*(long long*)mine(before) == sum, "the worth before mine is wrong", round);
    }
    if (me == owner) {
      long long most = -1, one;
      for (t = 0; t < threads; t += 2) {
        upc_memget(&one, at(worth, t), sizeof one);
        most = one > most ? one : most;
      }
      expect(*(long long*)mine(best) == most, "another hand is the best", round);
    }
    upc_barrier();
    /* All hands go round, from every thread to every thread, at the word of one. */
    memcpy(mine(table), mine(hands), bytes);
    upc_barrier();
    if (me == keeper) upc_gather_all(pack, table, bytes);
    upc_barrier();
    expect(complete((const struct card*)mine(pack)), "a card is missing in the deck", round);
    upc_barrier();
  }
  if (me == 0) printf("%d rounds of %d cards\n", rounds, deck);
  free(even);
  return wrong != 0;
}
