// SPDX-License-Identifier: BSD-3-Clause
// Elements of shared arrays that all threads change at once by +=, ++ and their like: nothing is lost.
#include "tests/jobs/suite.h"

#include <cstdio>
#include <cstdlib>
#include <weft/weft.hpp>

namespace {

int wrong = 0;
void expect(bool holds, const char* what) {
  if (holds) return;
  ++wrong;
  std::fprintf(stderr, "thread %d: %s\n", MYTHREAD, what);
}

} // namespace

// usage: elements TURNS
WEFT_SUITE(atomic_elements) {
  const int turns = argc > 1 ? std::atoi(argv[1]) : 1000;
  weft::shared_array<int> counts(weft::per_thread(1));
  weft::shared_array<double> sums(weft::per_thread(1));
  weft::shared_array<unsigned long> bits(weft::per_thread(1)), tickets(weft::per_thread(1));
  weft::shared_array<short> plain(weft::per_thread(1)); // of a type that has no atomic operations: alone
  counts[MYTHREAD] = 0;
  sums[MYTHREAD] = 0;
  bits[MYTHREAD] = 0;
  tickets[MYTHREAD] = 0;
  plain[MYTHREAD] = 5;
  upc_barrier;
  unsigned long sum_of_tickets = 0;
  for (int turn = 0; turn < turns; ++turn) {
    const int at = turn % THREADS; // all threads at about the same one
    counts[at] += 3;
    --counts[at];
    sums[at] += 0.5;
    sums[at] -= 0.25f;
    bits[at] ^= 1ul << MYTHREAD;
    sum_of_tickets += tickets[0]++;
  }
  plain[MYTHREAD] += 2;
  plain[MYTHREAD] *= 3;
  upc_barrier;
  counts[MYTHREAD] += 0.75; // a read and a write: no other thread is there now
  upc_barrier;
  const int visits = turns / THREADS + (MYTHREAD < turns % THREADS ? 1 : 0); // of each thread to mine
  expect(counts[MYTHREAD] == 2 * THREADS * visits, "a count is wrong");
  expect(sums[MYTHREAD] == 0.25 * THREADS * visits, "a sum is wrong");
  expect(bits[MYTHREAD] == (visits % 2 != 0 ? (1ul << THREADS) - 1 : 0), "bits are wrong");
  expect(plain[MYTHREAD] == 21, "a short is wrong");
  const auto all = static_cast<unsigned long>(turns) * static_cast<unsigned long>(THREADS);
  expect(tickets[0] == all, "tickets are lost");
  expect(weft::reduce_all(sum_of_tickets, UPC_ADD).get() == all * (all - 1) / 2, "a ticket came twice");
  return wrong == 0 ? 0 : 1;
}
