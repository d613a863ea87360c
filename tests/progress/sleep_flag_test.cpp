// SPDX-License-Identifier: BSD-3-Clause
#include "progress/driving/doorbell.hpp"
#include "progress/execution/neighbours.hpp"
#include "tests/progress/crew.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <new>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using weft::progress::doorbell;
using weft::progress::sleep_flag;
using weft::testing::deadline;
using weft::testing::meeting_point;
using weft::testing::rounds_budget;
using weft::testing::run_together;

struct words {
  alignas(64) std::atomic<std::uint32_t> sleeping{0};
  alignas(64) std::atomic<std::uint32_t> sleepers{0};
  alignas(64) std::atomic<std::uint32_t> data{0};
};

TEST(sleep_flag, asks_for_a_ring_between_announce_and_cancel) {
  words w;
  sleep_flag flag{w.sleeping, w.sleepers};
  EXPECT_FALSE(flag.needs_ring());
  flag.announce();
  EXPECT_TRUE(flag.needs_ring());
  EXPECT_TRUE(flag.needs_ring()) << "every signaller rings";
  EXPECT_TRUE(flag.needs_ring_after_fence());
  flag.cancel();
  EXPECT_FALSE(flag.needs_ring());
  EXPECT_EQ(w.sleepers, 0u);
}

TEST(sleep_flag, one_rank_asleep_does_not_ask_for_another) {
  std::array<std::atomic<std::uint32_t>, 2> sleeping{};
  std::atomic<std::uint32_t> sleepers{0};
  sleep_flag first{sleeping[0], sleepers};
  sleep_flag second{sleeping[1], sleepers};
  first.announce();
  EXPECT_TRUE(first.needs_ring());
  EXPECT_FALSE(second.needs_ring());
  second.announce();
  EXPECT_EQ(sleepers, 2u);
  first.cancel();
  EXPECT_TRUE(second.needs_ring());
  EXPECT_FALSE(first.needs_ring());
  second.cancel();
  EXPECT_EQ(sleepers, 0u);
}

// Caught here: needs_ring() that trusts one of the two words alone.
TEST(sleep_flag, both_words_must_say_so) {
  words w;
  const sleep_flag flag{w.sleeping, w.sleepers};
  w.sleeping = 1;
  EXPECT_FALSE(flag.needs_ring()) << "the count comes first and is usually the only word read";
  w.sleepers = 1;
  w.sleeping = 0;
  EXPECT_FALSE(flag.needs_ring());
}

// The store-buffer litmus: both sides store and then look at the other's word, at the same moment, many
// times. At least one must see the other. The sides walk through many independent flags between two meetings,
// so that they run side by side for long when they run at all. Caught here, on two idle cores in most
// runs: announce() or needs_ring() without its fence.
TEST(sleep_flag_stress, one_side_always_sees_the_other) {
  constexpr unsigned batches = 300;
  constexpr unsigned batch = 1024;
  std::vector<words> all(batch);
  std::array<std::vector<char>, 2> saw{std::vector<char>(batch), std::vector<char>(batch)};
  meeting_point together{2};
  bool enough = false;
  unsigned lost = 0;
  const rounds_budget budget;
  run_together(2, [&](unsigned me) {
    for (std::uint32_t round = 1; round <= batches; ++round) {
      if (me == 0) enough = budget.spent();
      together.arrive();
      if (enough) break;
      for (unsigned i = 0; i < batch; ++i) {
        words& w = all[i];
        sleep_flag flag{w.sleeping, w.sleepers};
        if (me == 0) {
          flag.announce();
          saw[me][i] = w.data.load(std::memory_order_relaxed) == round;
        } else {
          w.data.store(round, std::memory_order_relaxed);
          saw[me][i] = flag.needs_ring();
        }
      }
      together.arrive();
      if (me != 0) continue;
      for (unsigned i = 0; i < batch; ++i) {
        if (!saw[0][i] && !saw[1][i]) ++lost;
        sleep_flag{all[i].sleeping, all[i].sleepers}.cancel();
      }
    }
  });
  EXPECT_EQ(lost, 0u) << "wake-ups lost";
}

// Sleeps until the doorbell is rung; false when no thread rang.
bool sleep_on(doorbell& bell) {
  pollfd entry{.fd = bell.fd(), .events = POLLIN, .revents = 0};
  const std::chrono::milliseconds limit = deadline::patience_limit;
  int result = 0;
  while ((result = ::poll(&entry, 1, static_cast<int>(limit.count()))) < 0 && errno == EINTR) {
  }
  bell.drain();
  return result == 1;
}

// Waits like a rank for data to reach `round`: announce, look again, sleep. False when it was never woken.
bool await_round(words& w, doorbell& bell, std::uint32_t round) {
  sleep_flag flag{w.sleeping, w.sleepers};
  while (w.data.load(std::memory_order_acquire) != round) {
    flag.announce();
    const bool nothing = w.data.load(std::memory_order_acquire) != round;
    const bool woken = !nothing || sleep_on(bell);
    flag.cancel();
    if (!woken) return false;
  }
  return true;
}

void send_round(words& w, doorbell& bell, std::uint32_t round) {
  w.data.store(round, std::memory_order_release);
  if (sleep_flag{w.sleeping, w.sleepers}.needs_ring()) bell.ring();
}

// Two processes over shared memory, each sleeping in turn. Caught here: needs_ring() that misses an announced
// sleeper.
TEST(sleep_flag_stress, two_processes_wake_each_other) {
  constexpr std::uint32_t rounds = 3'000;
  const auto size = 2 * sizeof(words);
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* w = new (memory) words[2];
  std::array<doorbell, 2> bells;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    bool woken = true;
    for (std::uint32_t round = 1; woken && round <= rounds; ++round) {
      woken = await_round(w[1], bells[1], round);
      send_round(w[0], bells[0], round);
    }
    ::_exit(woken ? 0 : 1);
  }
  bool woken = true;
  for (std::uint32_t round = 1; woken && round <= rounds; ++round) {
    send_round(w[1], bells[1], round);
    woken = await_round(w[0], bells[0], round);
  }
  EXPECT_TRUE(woken) << "the parent was not woken";
  int state = 0;
  ASSERT_EQ(::waitpid(child, &state, 0), child);
  EXPECT_TRUE(WIFEXITED(state) && WEXITSTATUS(state) == 0) << "the child was not woken";
  ::munmap(memory, size);
}

} // namespace
