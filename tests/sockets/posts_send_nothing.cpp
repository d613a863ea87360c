// SPDX-License-Identifier: BSD-3-Clause
// Over sockets a post leaves more than a message to the progress thread, and that sends it without another
// call of the program. Most posts of many: the thread may already be at work when one looks.
#include "tests/jobs/suite.h"

#include <upc.h>
#include <upc_collective_ext.h>
#include <weft/job.h>

#include <chrono>
#include <cstdio>
#include <thread>

WEFT_SUITE(posts_send_nothing) {
  constexpr int posts = 40;
  const auto sent = [] { return weft_statistic("messages_sent"); };
  const upc_shared_ptr_t src = upc_all_alloc(static_cast<std::size_t>(THREADS), 500'000);
  const upc_shared_ptr_t dst = upc_all_alloc(static_cast<std::size_t>(THREADS), 500'000);
  int quiet = 0, by_thread = 0;
  for (int k = 0; k < posts; ++k) {
    upc_barrier();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto before = sent();
    const upc_coll_handle_t open =
        upc_all_exchange(dst, src, 200'000, UPC_IN_MYSYNC | UPC_OUT_MYSYNC | UPC_ASYNC);
    const auto posted = sent();
    quiet += posted == before;
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    by_thread += sent() > before;
    upc_wait(open);
  }
  upc_barrier();
  const bool right = quiet > posts / 2 && by_thread > posts / 2;
  if (!right)
    std::fprintf(stderr, "thread %d: %d of %d posts sent nothing, the progress thread sent for %d\n",
                 MYTHREAD, quiet, posts, by_thread);
  return right ? 0 : 1;
}
