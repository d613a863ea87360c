// SPDX-License-Identifier: BSD-3-Clause
// Blocks that go one way only: who sends them learns from nothing else how far their reader is, and asks for
// it on the messages that go there anyway. A reader that a loaded machine keeps away is asked by messages of
// their own, so one of several rounds has to be without.
#include "tests/jobs/suite.h"

#include <upc.h>
#include <upc_collective_ext.h>
#include <weft/job.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

WEFT_SUITE(one_way) {
  constexpr int calls = 64, rounds = 6;
  constexpr std::size_t bytes = 16'384;
  const auto sent = [] { return weft_statistic("messages_sent"); };
  const upc_shared_ptr_t dst = upc_all_alloc(static_cast<std::size_t>(THREADS), bytes);
  auto least = decltype(sent()){1'000'000};
  for (int round = 0; round < rounds; ++round) {
    const upc_shared_ptr_t from = upc_all_alloc(1, bytes); // and so all have come so far
    const auto before = sent();
    for (int k = 0; k < calls; ++k) {
      if (MYTHREAD == 0) std::this_thread::sleep_for(std::chrono::microseconds(500));
      upc_all_broadcast(dst, from, bytes, UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
    }
    if (MYTHREAD == 0) least = std::min(least, sent() - before);
  }
  const bool right = MYTHREAD != 0 || least <= calls + 2;
  if (!right)
    std::fprintf(stderr, "%d broadcasts took %lld messages at least\n", calls, static_cast<long long>(least));
  return right ? 0 : 1;
}
