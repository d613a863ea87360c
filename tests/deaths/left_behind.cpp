// SPDX-License-Identifier: BSD-3-Clause
// A thread dies, and another one leaves by weft_finalize, whose process lives on. The others hear from each
// call that needs the latter that it has left, in bounded time, near and far; teams without both work on.
//
//   left_behind how seed          how: kill, exit
//
// The last thread dies, thread 0 leaves. Each but the dead one prints "survived".
//
// Mutation that this catches: who leaves says nothing (the alarm).
#include "tests/jobs/suite.h"

#include <upc.h>
#include <upc_atomic.h>
#include <upc_castable.h>
#include <upc_collective_cray.h>
#include <weft/weft.hpp>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <unistd.h>

namespace {

constexpr unsigned patience = 40; // seconds; the alarm ends the process with a signal

volatile std::sig_atomic_t dismissed = 0;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::_Exit(2);
}

// At first thread 0 still answers.
void expect_departure(const char* what, const std::function<void()>& call) {
  try {
    for (;;)
      call();
  } catch (const weft::error& e) {
    const bool says_so = std::strstr(e.what(), "thread 0") && std::strstr(e.what(), "has left");
    // Of a new team only the first member asks thread 0.
    if (!says_so && std::strstr(e.what(), "thread 1 failed while the team was made") == nullptr)
      fail(std::string(what) + ": " + e.what());
  }
}

void finalize_without_all() {
  try {
    weft_finalize();
    fail("weft_finalize came to a good end without all");
  } catch (const weft::error&) {
  }
}

[[noreturn]] void die(const std::string& how) {
  usleep(20'000);
  if (how == "exit") _exit(3);
  kill(getpid(), SIGKILL);
  _exit(3);
}

// What the threads between the two have in common with thread 0.
struct common {
  upc_lock_t lock = upc_all_lock_alloc(); // its home is thread 0
  upc_atomicdomain_t domain = upc_all_atomicdomain_alloc(UPC_PTS, UPC_GET, 0);
  upc_shared_ptr_t pointers = upc_all_alloc(static_cast<std::size_t>(THREADS), sizeof(upc_shared_ptr_t));
  upc_shared_ptr_t src = upc_all_alloc(static_cast<std::size_t>(THREADS), 4096),
                   dst = upc_all_alloc(static_cast<std::size_t>(THREADS), 4096);
  cray_upc_team_t but_the_dead = 0, workers = 0;
};

void need_thread_0(const common& c) {
  expect_departure("upc_lock", [&] {
    upc_lock(c.lock);
    upc_unlock(c.lock);
  });
  expect_departure("upc_global_alloc and upc_free",
                   [] { upc_free(upc_global_alloc(static_cast<std::size_t>(THREADS), 8)); });
  expect_departure("upc_free", [&] { upc_free(c.dst); });
  expect_departure("upc_lock_free", [&] { upc_lock_free(c.lock); });
  expect_departure("an atomic operation on a pointer", [&] {
    upc_shared_ptr_t got;
    upc_atomic_relaxed(c.domain, &got, UPC_GET, c.pointers, nullptr, nullptr);
  });
  expect_departure("a team of the others", [&] {
    cray_upc_team_t more = 0;
    cray_upc_team_split(c.workers, 0, 0, &more);
    cray_upc_team_free(more);
  });
  expect_departure("an exchange of a team", [&] {
    upc_all_exchange(c.dst, c.src, 8, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC, c.but_the_dead);
  });
}

void stay_until_dismissed() {
  while (dismissed == 0)
    usleep(10'000);
}

} // namespace

WEFT_PROGRAM(left_behind) {
  weft_init(&argc, &argv);
  const std::string how = argc > 1 ? argv[1] : "kill";
  const int me = MYTHREAD, victim = THREADS - 1;
  common c;
  cray_upc_team_split(UPC_TEAM_ALL, me == victim, 0, &c.but_the_dead);
  std::array<int, 64> list{};
  std::iota(list.begin(), list.end(), 1);
  weft_team_from_threads(UPC_TEAM_ALL, THREADS - 2, list.data(), &c.workers);
  std::signal(SIGUSR1, [](int) { dismissed = 1; });
  const pid_t self = getpid();
  pid_t first = 0;
  if (me == 0) upc_memput(c.src, &self, sizeof self);
  upc_barrier;
  upc_memget(&first, c.src, sizeof first);
  upc_barrier;
  alarm(patience);
  if (me == victim) die(how);
  try {
    if (me != 0) {
      need_thread_0(c);
      for (int k = 0; k < 50; ++k)
        cray_upc_team_barrier(c.workers);
      if (me == 1) kill(first, SIGUSR1);
    }
  } catch (const std::exception& e) {
    fail(std::string("the others cannot go on: ") + e.what());
  }
  finalize_without_all();
  if (me == 0) stay_until_dismissed();
  std::printf("survived\n");
  return 0;
}
