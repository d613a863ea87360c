// SPDX-License-Identifier: BSD-3-Clause
// Over sockets a post sends by itself what is short and all that others wait for, and no thread wakes for it.
// Most posts of many: another thread may be driving just then.
#include "tests/jobs/suite.h"

#include <upc.h>
#include <upc_collective_ext.h>
#include <weft/job.h>

#include <chrono>
#include <cstdio>
#include <thread>

WEFT_SUITE(posts_send_little) {
  constexpr int posts = 60;
  constexpr std::size_t sizes[] = {8, 2'000, 16'384, 100'000};
  const auto sent = [] { return weft_statistic("messages_sent"); };
  const auto threads = static_cast<std::size_t>(THREADS);
  const upc_shared_ptr_t src = upc_all_alloc(threads, 100'000 * threads);
  const upc_shared_ptr_t dst = upc_all_alloc(threads, 100'000 * threads);
  int at_once = 0;
  for (int k = 0; k < posts; ++k) {
    upc_barrier();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto before = sent();
    const upc_coll_handle_t open =
        upc_all_exchange(dst, src, sizes[k % 4], UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
    at_once += sent() > before;
    upc_wait(open);
  }
  upc_barrier();
  const bool right = at_once > posts * 3 / 4;
  if (!right) std::fprintf(stderr, "thread %d: %d of %d posts sent at once\n", MYTHREAD, at_once, posts);
  return right ? 0 : 1;
}
