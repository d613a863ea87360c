// SPDX-License-Identifier: BSD-3-Clause
// Over sockets a post sends by itself what is short: to all others up to about 128 KiB. More it leaves to the
// progress thread, which sends it without another call of the program. A post that finds another thread at
// work leaves all to that one, and does not count.
#include "tests/jobs/suite.h"

#include <upc.h>
#include <upc_collective_ext.h>
#include <weft/job.h>

#include <chrono>
#include <cstdio>
#include <thread>

WEFT_SUITE(posts_send) {
  constexpr int posts = 75;
  constexpr std::size_t sizes[] = {8, 2'000, 16'384, 60'000, 131'072}, longest = 131'072;
  const auto sent = [] { return weft_statistic("messages_sent"); };
  const auto alone = [] { return weft_statistic("inline_posts"); };
  const auto threads = static_cast<std::size_t>(THREADS);
  const std::uint64_t others = threads - 1;
  const upc_shared_ptr_t src = upc_all_alloc(threads, longest * threads);
  const upc_shared_ptr_t dst = upc_all_alloc(threads, longest * threads);
  int short_ones = 0, at_once = 0, long_ones = 0, left = 0, later = 0;
  for (int k = 0; k < posts; ++k) {
    const std::size_t bytes = sizes[k % 5];
    upc_barrier();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto before = sent(), before_alone = alone();
    const upc_coll_handle_t open =
        upc_all_exchange(dst, src, bytes, UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
    const auto by_post = sent() - before;
    const bool counts = alone() != before_alone;
    if (counts && bytes != longest) {
      ++short_ones;
      at_once += by_post >= others;
    }
    if (counts && bytes == longest) {
      ++long_ones;
      left += by_post < others;
      for (int wait = 0; wait != 5'000 && sent() - before < others; ++wait)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      later += sent() - before >= others;
    }
    upc_wait(open);
  }
  upc_barrier();
  const bool right = at_once > short_ones * 9 / 10 && left != 0 && later == long_ones;
  if (!right)
    std::fprintf(stderr, "thread %d: %d of %d posts sent all, %d of %d left some, which was sent for %d\n",
                 MYTHREAD, at_once, short_ones, left, long_ones, later);
  return right ? 0 : 1;
}
