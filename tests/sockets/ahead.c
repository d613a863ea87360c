// SPDX-License-Identifier: BSD-3-Clause
// A pipelined loop as a user writes it, between hosts: many exchanges, gather-alls and broadcasts of all sizes
// under way, each on memory of its own, while one thread comes late to all of them and another waits for none
// until the end. What is sent ahead must neither be lost nor overwrite what its reader has not taken.
#define _DEFAULT_SOURCE
#include "tests/jobs/suite.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <upc.h>
#include <upc_castable.h>
#include <upc_collective_ext.h>

enum { most_rounds = 48, most = 900 * 1024 };
static const size_t sizes[] = {8, 3000, 32768, 65536, 122880, 131072, 131080, 40000, most};

static unsigned char byte(int round, int from, int to, size_t at) {
  return (unsigned char)(round * 31 + from * 7 + to * 3 + (int)(at % 251));
}

WEFT_SUITE(ahead) {
  const int late = argc > 1 ? THREADS - 1 : 0, me = MYTHREAD, all = THREADS;
  const int rounds = all > 4 ? most_rounds / 3 : most_rounds; // what moves grows with the square of the threads
  upc_coll_handle_t handles[most_rounds];
  upc_shared_ptr_t src[most_rounds], dst[most_rounds];
  size_t bytes[most_rounds];
  for (int r = 0; r < rounds; ++r) {
    bytes[r] = sizes[(size_t)(r * 5 + r / 8) % (sizeof sizes / sizeof *sizes)];
    src[r] = upc_all_alloc((size_t)all, bytes[r] * (size_t)all);
    dst[r] = upc_all_alloc((size_t)all, bytes[r] * (size_t)all);
    unsigned char* mine = upc_cast(upc_ptradd(src[r], 1, bytes[r] * (size_t)all, me));
    for (int to = 0; to < all; ++to)
      for (size_t at = 0; at < bytes[r]; ++at)
        mine[(size_t)to * bytes[r] + at] = byte(r, me, r % 3 == 0 ? to : 0, at);
    memset(upc_cast(upc_ptradd(dst[r], 1, bytes[r] * (size_t)all, me)), 0, bytes[r] * (size_t)all);
  }
  upc_barrier();
  const upc_flag_t mode = UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC;
  if (me == late) usleep(100000);
  for (int r = 0; r < rounds; ++r) {
    if (r % 3 == 0) handles[r] = upc_all_exchange(dst[r], src[r], bytes[r], mode);
    if (r % 3 == 1) handles[r] = upc_all_gather_all(dst[r], src[r], bytes[r], mode);
    if (r % 3 == 2) handles[r] = upc_all_broadcast(dst[r], src[r], bytes[r], mode);
    if (me == late && r % 8 == 7) usleep(5000);
    if (me == 1 && r >= 6) upc_wait(handles[r - 6]);
  }
  int wrong = 0;
  for (int r = 0; r < rounds; ++r) {
    upc_wait(handles[r]);
    const unsigned char* got = upc_cast(upc_ptradd(dst[r], 1, bytes[r] * (size_t)all, me));
    for (int from = r % 3 == 2 ? 0 : all - 1; from >= 0; --from)
      for (size_t at = bytes[r]; at-- > 0;) // the end first: it comes last
        if (got[(size_t)from * bytes[r] + at] != byte(r, from, r % 3 == 0 ? me : 0, at)) {
          fprintf(stderr, "thread %d, round %d of %zu bytes: byte %zu from thread %d is wrong\n", me, r, bytes[r], at,
                  from);
          wrong = 1;
          from = 0;
          break;
        }
  }
  upc_barrier();
  return wrong;
}
