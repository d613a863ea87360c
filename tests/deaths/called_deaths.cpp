// SPDX-License-Identifier: BSD-3-Clause
// A thread dies in the midst of one-sided collectives of lists that it is in: their callers, who are in them
// or not, hear of it from the call or its completion, in bounded time; lists without it work on.
//
//   called_deaths how seed          how: kill, exit
//
// The last thread is the victim, and calls for threads 0 and 1. Thread 0 calls for the others, in which it is
// not; thread 1 for those with itself. Each but the victim prints "survived".
//
// Mutation that this catches: a caller that takes no part waits for the answer of a dead one (the alarm).
#include "tests/jobs/suite.h"

#include <upc_collective_cray.h>
#include <weft/weft.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::size_t bytes = std::size_t{100} << 10;
constexpr unsigned patience = 40; // seconds; the alarm ends the process with a signal

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "thread %d: %s\n", MYTHREAD, what.c_str());
  std::_Exit(2);
}

std::vector<int> list(int first, int end) {
  std::vector<int> all(static_cast<std::size_t>(end - first));
  std::iota(all.begin(), all.end(), first);
  return all;
}

upc_shared_ptr_t on(upc_shared_ptr_t p, int thread) {
  return {p.addr, static_cast<std::uint32_t>(thread), 0};
}

void call(upc_shared_ptr_t dst, upc_shared_ptr_t src, const std::vector<int>& threads, bool posted) {
  const upc_flag_t flags = posted ? UPC_ASYNC : 0;
  const std::span<const int> who(threads);
  upc_wait_value(upc_gather_all(on(dst, who.front()), on(src, who.front()), bytes, who, flags));
}

// What fails says who is missing.
void call_until_it_fails(upc_shared_ptr_t dst, upc_shared_ptr_t src, const std::vector<int>& threads) {
  const std::string name = "thread " + std::to_string(THREADS - 1);
  try {
    for (unsigned k = 0;; ++k)
      call(dst, src, threads, k % 2 == 0);
  } catch (const weft::error& e) {
    if (std::strstr(e.what(), name.c_str()) == nullptr) fail(std::string("not named: ") + e.what());
  }
}

} // namespace

WEFT_PROGRAM(called_deaths) {
  weft_init(&argc, &argv);
  const bool exits = argc > 1 && std::strcmp(argv[1], "exit") == 0;
  const int seed = argc > 2 ? std::atoi(argv[2]) : 1, victim = THREADS - 1;
  const auto threads = static_cast<std::size_t>(THREADS);
  const upc_shared_ptr_t src = upc_all_alloc(threads, bytes);
  upc_shared_ptr_t dst[3];
  for (upc_shared_ptr_t& d : dst)
    d = upc_all_alloc(threads, threads * bytes);
  cray_upc_team_t others = 0;
  cray_upc_team_split(UPC_TEAM_ALL, MYTHREAD == victim, 0, &others);
  upc_barrier;
  alarm(patience);
  if (MYTHREAD == victim)
    std::thread([=] {
      usleep(static_cast<unsigned>(seed) * 7919 % 20000);
      if (exits) _exit(3);
      kill(getpid(), SIGKILL);
    }).detach();
  if (MYTHREAD == victim) // calls, too: its engine is driven in every mode
    for (;;)
      call(dst[2], src, list(0, 2), true);
  try {
    if (MYTHREAD < 2) {
      std::vector<int> all = list(1, THREADS);
      if (seed % 2 == 0) std::ranges::reverse(all); // the first one answers
      call_until_it_fails(dst[MYTHREAD], src, all);
      call_until_it_fails(dst[MYTHREAD], src, all);              // and again
      call_until_it_fails(dst[MYTHREAD], src, list(0, THREADS)); // which it has not called for before
      for (int k = 0; k < 20; ++k)
        call(dst[MYTHREAD], src, list(1, victim), k % 2 == 0);
    }
    cray_upc_team_barrier(others);
  } catch (const std::exception& e) {
    fail(std::string("the others cannot go on: ") + e.what());
  }
  try {
    weft_finalize();
    fail("weft_finalize came to a good end without all");
  } catch (const weft::error&) {
  }
  std::printf("survived\n");
  return 0;
}
