// SPDX-License-Identifier: BSD-3-Clause
// A thread dies in the midst of collectives; the others must hear of it from the calls that need it, in
// bounded time, whichever way they wait, and go on without it.
//
//   deaths how seed          how: kill, exit
//
// The last thread is the victim. Each other thread prints "survived" when
//   - what it had under way with the victim failed, with an error that names it,
//   - what it posts on a team with the victim afterwards fails as well, and what it copies to and from it,
//   - a team without the victim has worked on, correctly,
//   - weft_finalize has come back, with an error.
#include "tests/jobs/suite.h"

#include <upc.h>
#include <upc_atomic.h>
#include <upc_castable.h>
#include <upc_collective.h>
#include <upc_collective_cray.h>
#include <weft/weft.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr std::size_t most = std::size_t{128} << 10;
constexpr unsigned patience = 40; // seconds; the alarm ends the process with a signal

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "thread %d: %s\n", MYTHREAD, what.c_str());
  std::_Exit(2);
}

struct area {
  explicit area(std::size_t bytes)
      : memory(upc_all_alloc(static_cast<std::size_t>(THREADS), bytes)), bytes(bytes) {}
  upc_shared_ptr_t on(int thread) const { return upc_ptradd(memory, 1, bytes, thread); }
  unsigned char* mine() const { return static_cast<unsigned char*>(upc_cast(on(MYTHREAD))); }
  upc_shared_ptr_t memory;
  std::size_t bytes;
};

struct areas {
  area dst{most}, src{most}, perm{64};
};

upc_coll_handle_t post(const areas& a, unsigned what, std::size_t bytes, upc_flag_t mode) {
  const upc_shared_ptr_t dst = a.dst.memory, src = a.src.memory;
  const int root = static_cast<int>(what / 7) % THREADS;
  mode |= UPC_ASYNC;
  switch (what % 7) {
  case 0:
    return upc_all_exchange(dst, src, bytes, mode);
  case 1:
    return upc_all_gather_all(dst, src, bytes, mode);
  case 2:
    return upc_all_broadcast(dst, a.src.on(root), bytes, mode);
  case 3:
    return upc_all_scatter(dst, a.src.on(root), bytes, mode);
  case 4:
    return upc_all_gather(a.dst.on(root), src, bytes, mode);
  case 5:
    return upc_all_permute(dst, src, a.perm.memory, bytes, mode);
  default:
    return cray_upc_team_barrier_nb(UPC_TEAM_ALL);
  }
}

// Each way to complete, until one throws.
void complete(unsigned way, std::vector<upc_coll_handle_t>& h) {
  const int n = static_cast<int>(h.size());
  switch (way % 7) {
  case 0:
    for (upc_coll_handle_t& each : h)
      upc_wait(each);
    break;
  case 1:
    while (upc_waitany(n, h.data()) >= 0) {
    }
    break;
  case 2:
    while (upc_waitsome(n, h.data()) > 0) {
    }
    break;
  case 3:
    upc_waitall(n, h.data());
    break;
  case 4:
    for (upc_coll_handle_t& each : h)
      while (upc_test(each) < 0) {
      }
    break;
  case 5:
    while (upc_testall(n, h.data()) < 0)
      usleep(50);
    break;
  default:
    while (upc_testany(n, h.data()) != -2) {
    }
  }
}

// What fails must say who is missing.
void expect_obituary(const char* when, const std::function<void()>& calls) {
  const std::string name = "thread " + std::to_string(THREADS - 1);
  try {
    calls();
  } catch (const weft::error& e) {
    if (std::strstr(e.what(), name.c_str()) == nullptr) fail(std::string(when) + ", not named: " + e.what());
    return;
  }
  fail(std::string(when) + ": went well");
}

void die_later(const std::string& how, unsigned after) {
  std::thread([=] {
    usleep(after);
    if (how == "exit") _exit(3);
    kill(getpid(), SIGKILL);
  }).detach();
}

// Collectives of all threads, several at a time, until one fails.
void work_until_it_fails(const areas& a, std::mt19937& dice) {
  const upc_flag_t modes[] = {UPC_IN_MYSYNC | UPC_OUT_MYSYNC, UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC,
                              UPC_IN_NOSYNC | UPC_OUT_MYSYNC};
  const std::size_t sizes[] = {8, 1024, 8192};
  for (;;) {
    std::vector<upc_coll_handle_t> h;
    const unsigned together = 1 + dice() % 6, way = dice();
    for (unsigned k = 0; k < together; ++k)
      h.push_back(post(a, dice() % 1000, sizes[dice() % 3], modes[dice() % 3]));
    if (dice() % 4 == 0) upc_barrier;
    static std::vector<unsigned char> got(most);
    upc_memget_nbi(got.data(), a.src.on(THREADS - 1), sizes[dice() % 3]);
    complete(way, h);
    upc_synci();
  }
}

// What the processor does by itself goes on in the memory of the dead; what its engine would do does not.
void use_atomics_of_the_dead(upc_atomicdomain_t words, upc_shared_ptr_t word, upc_atomicdomain_t pointers,
                             upc_shared_ptr_t pointer) {
  const auto add = [&] {
    int before = 0;
    upc_atomic_relaxed(words, &before, UPC_INC, word, nullptr, nullptr);
  };
  upc_atomic_isfast(UPC_INT, UPC_INC, word) ? add() : expect_obituary("an atomic operation", add);
  expect_obituary("an atomic operation on a pointer", [&] {
    upc_shared_ptr_t got;
    upc_atomic_relaxed(pointers, &got, UPC_GET, pointer, nullptr, nullptr);
  });
}

void work_on(cray_upc_team_t others) {
  for (int k = 0; k < 50; ++k)
    cray_upc_team_barrier(others);
}

} // namespace

WEFT_PROGRAM(deaths) {
  weft_init(&argc, &argv);
  const std::string how = argc > 1 ? argv[1] : "kill";
  std::mt19937 dice(argc > 2 ? static_cast<unsigned>(std::atoi(argv[2]))
                             : 1); // the same calls on every thread
  const areas a;
  *reinterpret_cast<int*>(a.perm.mine()) = (MYTHREAD + 1) % THREADS;
  const int victim = THREADS - 1;
  const upc_atomicdomain_t words = upc_all_atomicdomain_alloc(UPC_INT, UPC_INC, 0),
                           pointers = upc_all_atomicdomain_alloc(UPC_PTS, UPC_GET, 0);
  cray_upc_team_t others = 0;
  cray_upc_team_split(UPC_TEAM_ALL, MYTHREAD == victim, 0, &others);
  upc_barrier;
  alarm(patience);
  const unsigned moment = dice() % 30000;
  if (MYTHREAD == victim) die_later(how, moment);
  try {
    expect_obituary("under way", [&] { work_until_it_fails(a, dice); });
    expect_obituary("posted afterwards", [&] {
      upc_coll_handle_t h = post(a, 0, 8, UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
      upc_wait(h);
    });
    expect_obituary("a barrier afterwards", [&] { upc_barrier; });
    try { // those that were under way come to an end
      upc_synci();
    } catch (const weft::error&) {
    }
    use_atomics_of_the_dead(words, a.perm.on(victim), pointers, a.src.on(victim));
    if (upc_thread_info(static_cast<std::size_t>(victim)).guaranteedCastable == 0) {
      int x = 0;
      expect_obituary("a put afterwards", [&] { upc_sync(upc_memput_nb(a.dst.on(victim), &x, sizeof x)); });
      expect_obituary("a get afterwards", [&] { upc_sync(upc_memget_nb(&x, a.dst.on(victim), sizeof x)); });
    }
    work_on(others);
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
