// SPDX-License-Identifier: BSD-3-Clause
/* As a user would write it: a histogram, the largest value and a list of arrivals, without a lock. */
#include "tests/jobs/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <upc_atomic.h>
#include <upc_castable.h>

enum { bins = 7, draws = 200 };

static void require(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "thread %d: not so: %s\n", (int)MYTHREAD, what);
  exit(1);
}

WEFT_SUITE(atomic_census) {
  upc_atomicdomain_t counts, floats;
  upc_shared_ptr_t histogram, largest;
  unsigned long sum = 0, ticket = 0, last = 0;
  double most = 0;
  int k;
  counts = upc_all_atomicdomain_alloc(UPC_ULONG, UPC_INC | UPC_ADD | UPC_GET, UPC_ATOMIC_HINT_LATENCY);
  floats = upc_all_atomicdomain_alloc(UPC_DOUBLE, UPC_MAX | UPC_GET, UPC_ATOMIC_HINT_DEFAULT);
  require(counts != floats, "two domains");
  histogram = upc_all_alloc(bins, sizeof(unsigned long));
  largest = upc_all_alloc(1, sizeof(double));
  for (k = MYTHREAD; k < bins; k += THREADS)
    upc_memset(upc_ptradd(histogram, 1, sizeof(unsigned long), k), 0, sizeof(unsigned long));
  if (MYTHREAD == 0) upc_memset(largest, 0, sizeof(double));
  upc_barrier();
  for (k = 0; k < draws; ++k) {
    const double value = MYTHREAD * draws + k;
    const unsigned long two = 2;
    upc_atomic_relaxed(counts, &ticket, UPC_INC, histogram, NULL, NULL);
    require(k == 0 || ticket > last, "tickets grow");
    last = ticket;
    upc_atomic_relaxed(counts, NULL, UPC_ADD,
                       upc_ptradd(histogram, 1, sizeof(unsigned long), 1 + k % (bins - 1)), &two, NULL);
    upc_atomic_strict(floats, NULL, UPC_MAX, largest, &value, NULL);
  }
  upc_barrier();
  for (k = 0; k < bins; ++k) {
    unsigned long part = 0;
    upc_atomic_relaxed(counts, &part, UPC_GET, upc_ptradd(histogram, 1, sizeof(unsigned long), k), NULL,
                       NULL);
    sum += part;
  }
  require(sum == 3ul * draws * (unsigned long)THREADS, "all were counted");
  upc_atomic_strict(floats, &most, UPC_GET, largest, NULL, NULL);
  require(most == THREADS * draws - 1, "the largest of all");
  require(upc_atomic_isfast(UPC_ULONG, UPC_INC,
                            upc_ptradd(histogram, 1, sizeof(unsigned long), MYTHREAD % bins)) ==
              (upc_cast(upc_ptradd(histogram, 1, sizeof(unsigned long), MYTHREAD % bins)) != NULL),
          "fast where it can be cast");
  upc_barrier();
  upc_all_atomicdomain_free(floats);
  upc_all_atomicdomain_free(counts);
  return 0;
}
