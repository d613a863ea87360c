// SPDX-License-Identifier: BSD-3-Clause
// Threads that exchange blocks for some seconds, and say what came of it.
//
//   talking seconds [bytes]
//
// Thread 0 says "talking" after the first exchange, and tells the others when it is time to stop. Each thread
// says "failed after S s: WHAT" when a call fails, and ends with status 3; those who have a team without the
// last thread then work on it, and say "went on".
#include "tests/jobs/suite.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <upc_collective_cray.h>
#include <weft/weft.hpp>

namespace {

using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point then) {
  return std::chrono::duration<double>(clock_type::now() - then).count();
}

void exchange_for(double seconds, std::size_t bytes) {
  const std::size_t threads = static_cast<std::size_t>(THREADS);
  const upc_shared_ptr_t dst = upc_all_alloc(threads, threads * bytes),
                         src = upc_all_alloc(threads, threads * bytes);
  auto* const mine = static_cast<char*>(upc_cast(upc_ptradd(src, 1, threads * bytes, MYTHREAD)));
  auto* const got = static_cast<char*>(upc_cast(upc_ptradd(dst, 1, threads * bytes, MYTHREAD)));
  const auto began = clock_type::now();
  for (bool first = true, over = false; !over; first = false) {
    for (std::size_t k = 0; k < threads; ++k)
      mine[k * bytes] = seconds_since(began) > seconds;
    upc_all_exchange(dst, src, bytes, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
    if (first && MYTHREAD == 0) std::puts("talking");
    over = got[0] != 0;
    usleep(500); // the cores are for other tests
  }
}

} // namespace

WEFT_PROGRAM(talking) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  weft_init(&argc, &argv);
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1;
  cray_upc_team_t others = 0;
  cray_upc_team_split(UPC_TEAM_ALL, MYTHREAD == THREADS - 1, 0, &others);
  const auto began = clock_type::now();
  try {
    exchange_for(seconds, argc > 2 ? static_cast<std::size_t>(std::atoi(argv[2])) : 16384);
  } catch (const weft::error& e) {
    std::printf("thread %d failed after %.0f s: %s\n", MYTHREAD, seconds_since(began), e.what());
    if (cray_upc_team_size(others) > 1) {
      for (int k = 0; k < 20; ++k)
        cray_upc_team_barrier(others);
      std::printf("thread %d went on\n", MYTHREAD);
    }
    usleep(6'000'000); // the launcher ends all others with the first
    std::_Exit(3);
  }
  weft_finalize();
  return 0;
}
