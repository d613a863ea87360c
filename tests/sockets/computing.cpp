// SPDX-License-Identifier: BSD-3-Clause
// A thread that computes and calls nothing serves the others over sockets, if it has a progress thread: also
// when that one has gone to sleep. No clocks: who computes goes on until others have written what it waits
// for, so what does not work hangs here.
//
// Mutation that this catches: no thread drives while the application computes (WEFT_PROGRESS=caller hangs).
#include "tests/jobs/suite.h"

#include <upc.h>
#include <upc_castable.h>

#include <atomic>
#include <cstdio>
#include <unistd.h>
#include <vector>

WEFT_SUITE(sockets_computing) {
  constexpr std::size_t block = 3'000'000, flag = 64, each = 2 * block + flag;
  const upc_shared_ptr_t all = upc_all_alloc(THREADS, each);
  const auto of = [&](int thread, std::size_t at) { return upc_ptradd(all, each, 1, thread * each + at); };
  auto* const mine = static_cast<unsigned char*>(upc_cast(of(MYTHREAD, 0)));
  std::atomic_ref<unsigned char> told(mine[0]);
  mine[0] = 0;
  for (std::size_t i = 0; i < block; ++i)
    mine[flag + i] = static_cast<unsigned char>(i * 7 + MYTHREAD);
  upc_barrier;
  int wrong = 0;
  if (MYTHREAD == 0) {
    std::vector<unsigned char> got(block);
    for (int thread = 1; thread < THREADS; ++thread)
      for (const std::size_t bytes : {std::size_t{8}, block}) {
        usleep(200'000); // the others sleep deeply
        upc_memget(got.data(), of(thread, flag), bytes);
        for (std::size_t i = 0; i < bytes; ++i)
          wrong += got[i] != static_cast<unsigned char>(i * 7 + thread);
        usleep(200'000);
        upc_memput(of(thread, flag + block), got.data(), bytes);
      }
    const unsigned char end = 1;
    for (int thread = 1; thread < THREADS; ++thread)
      upc_memput(of(thread, 0), &end, 1);
  } else {
    while (told.load(std::memory_order_acquire) == 0) {
    }
    for (std::size_t i = 0; i < block; ++i)
      wrong += mine[flag + block + i] != mine[flag + i];
  }
  upc_barrier;
  if (wrong != 0) std::printf("thread %d: %d wrong bytes\n", MYTHREAD, wrong);
  return wrong == 0 ? 0 : 1;
}
