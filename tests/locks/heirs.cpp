// SPDX-License-Identifier: BSD-3-Clause
// A thread dies and leaves locks behind: it holds one, it is the home of another. Who waits for them, and who
// asks later, hears of it in bounded time, near and far; other locks go on.
//
//   heirs
//
// Mutations that this catches: a home that keeps those who wait for a dead holder; a wait for a dead home.
#include "tests/jobs/suite.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>
#include <weft/weft.hpp>

namespace {

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "thread %d: %s\n", MYTHREAD, what.c_str());
  std::_Exit(2);
}

void expect_obituary(const char* when, upc_lock_t lock) {
  const std::string name = "thread " + std::to_string(THREADS - 1);
  try {
    upc_lock(lock);
  } catch (const weft::error& e) {
    if (std::strstr(e.what(), name.c_str()) == nullptr || std::strstr(e.what(), "died") == nullptr)
      die(std::string(when) + ": " + e.what());
    return;
  }
  die(std::string(when) + ": went well");
}

} // namespace

WEFT_PROGRAM(lock_heirs) {
  weft_init(&argc, &argv);
  const int victim = THREADS - 1;
  upc_lock_t locks[16];
  for (upc_lock_t& lock : locks)
    lock = upc_all_lock_alloc();
  const upc_lock_t survivors = locks[0];                        // its home is thread 0
  const upc_lock_t held = locks[THREADS];                       // so is this one's
  const upc_lock_t orphan = locks[static_cast<size_t>(victim)]; // the victim's own
  if (MYTHREAD == victim) {
    upc_lock(held);
    upc_lock(orphan);
  }
  cray_upc_team_t others = 0; // they end together
  cray_upc_team_split(UPC_TEAM_ALL, MYTHREAD == victim, 0, &others);
  upc_barrier;
  alarm(30);
  if (MYTHREAD == victim) {
    usleep(100'000);
    kill(getpid(), SIGKILL);
  }
  expect_obituary("waits when it dies", MYTHREAD % 2 == 0 ? held : orphan);
  expect_obituary("asks afterwards", held);
  usleep(200'000);
  expect_obituary("asks the dead", orphan);
  for (int k = 0; k < 20; ++k) {
    upc_lock(survivors);
    upc_unlock(survivors);
  }
  cray_upc_team_barrier(others);
  try {
    weft_finalize();
    die("weft_finalize came to a good end without all");
  } catch (const weft::error&) {
  }
  std::printf("survived\n");
  return 0;
}
