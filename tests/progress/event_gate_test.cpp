// SPDX-License-Identifier: BSD-3-Clause
#include "progress/driving/event_gate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>
#include <poll.h>
#include <string>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using weft::progress::event_gate;

class gate : public testing::Test {
protected:
  ~gate() override { ::close(events); }
  void happens() const { ::eventfd_write(events, 1); }
  bool wakes(int milliseconds = 0) const {
    pollfd watched{it.fd(), POLLIN, 0};
    return ::poll(&watched, 1, milliseconds) == 1;
  }

  // So the next one is expected to be followed, too.
  void calls_follow_each_other() {
    for (int k = 0; k < 8; ++k) {
      it.mute();
      it.unmute_later();
    }
  }

  const int events = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  // Long, so that no test is slower between two of its steps.
  event_gate it{events, std::chrono::milliseconds(400)};
};

TEST_F(gate, what_comes_wakes_unless_it_is_muted) {
  EXPECT_FALSE(wakes());
  happens();
  EXPECT_TRUE(wakes());
  it.mute();
  EXPECT_FALSE(wakes());
  it.mute();
  it.unmute();
  EXPECT_FALSE(wakes()) << "another thread still has it muted";
  it.unmute();
  EXPECT_TRUE(wakes()) << "what came while it was muted";
}

TEST_F(gate, a_single_call_does_not_wait_for_others) {
  it.mute();
  it.unmute_later();
  happens();
  EXPECT_TRUE(wakes());
}

TEST_F(gate, a_few_calls_do_not_wait_for_others) {
  for (int k = 0; k < 8; ++k) {
    it.mute();
    it.unmute_later();
    EXPECT_FALSE(it.opens_later());
  }
  it.mute();
  it.unmute_later();
  EXPECT_TRUE(it.opens_later());
}

TEST_F(gate, a_call_that_has_not_muted_it_does_so_where_calls_follow_each_other) {
  it.mute_for_a_while();
  happens();
  EXPECT_TRUE(wakes()) << "a single call";
  calls_follow_each_other();
  for (int k = 0; k < 2; ++k) {
    it.mute_for_a_while();
    EXPECT_TRUE(it.opens_later());
    EXPECT_FALSE(wakes());
  }
  EXPECT_TRUE(wakes(10'000)) << "by the timer, which holds one count";
  it.woke();
  EXPECT_TRUE(wakes()) << "by what has come";
}

TEST_F(gate, who_unmutes_later_is_heard_when_nobody_has_called_for_a_while) {
  calls_follow_each_other();
  it.mute();
  it.unmute_later();
  happens();
  EXPECT_FALSE(wakes());
  EXPECT_TRUE(wakes(10'000)) << "by the timer";
  it.woke();
  EXPECT_TRUE(wakes()) << "by what has come";
}

TEST_F(gate, who_calls_within_the_while_has_it_muted_for_longer) {
  calls_follow_each_other();
  happens();
  it.mute();
  it.unmute_later();
  EXPECT_TRUE(wakes(10'000));
  it.mute();
  it.unmute_later();
  it.woke();
  EXPECT_FALSE(wakes()) << "a thread has just called";
  EXPECT_TRUE(wakes(10'000));
  it.woke();
  EXPECT_TRUE(wakes()) << "no thread has";
}

TEST_F(gate, who_called_long_before_the_timer_rings_prolongs_nothing) {
  calls_follow_each_other();
  it.mute();
  it.unmute_later(); // a moment behind the first one
  happens();
  EXPECT_TRUE(wakes(10'000));
  it.woke();
  EXPECT_TRUE(wakes());
}

TEST_F(gate, a_timer_that_has_not_rung_goes_on_when_the_sleeper_wakes_for_something_else) {
  calls_follow_each_other();
  it.mute();
  it.unmute_later();
  happens();
  it.woke();
  EXPECT_TRUE(it.opens_later());
  EXPECT_FALSE(wakes());
  EXPECT_TRUE(wakes(10'000));
}

TEST_F(gate, what_is_left_to_the_sleeper_after_all_is_heard_at_once) {
  calls_follow_each_other();
  it.mute();
  it.unmute_later();
  happens();
  it.mute();
  it.not_later();
  EXPECT_FALSE(it.opens_later());
  EXPECT_FALSE(wakes()) << "it is muted by a call";
  it.unmute();
  EXPECT_TRUE(wakes());
  it.not_later();
  EXPECT_TRUE(wakes()) << "nothing is due any more";
}

// What the kernel says is left of the timer that the gate listens to.
std::chrono::nanoseconds left_of_the_timer_of(const event_gate& gate) {
  std::string word;
  for (std::ifstream watched("/proc/self/fdinfo/" + std::to_string(gate.fd())); watched >> word;) {
    int fd = -1;
    if (word != "tfd:" || !(watched >> fd)) continue;
    for (std::ifstream timer("/proc/self/fdinfo/" + std::to_string(fd)); timer >> word;) {
      char mark{};
      long seconds = 0, nanoseconds = 0;
      if (word == "it_value:" && timer >> mark >> seconds >> mark >> nanoseconds)
        return std::chrono::seconds(seconds) + std::chrono::nanoseconds(nanoseconds);
    }
  }
  ADD_FAILURE() << "the gate has no timer";
  return {};
}

// Each time for twice as long, and not for ever. False where the machine kept this thread from a step for so
// long that its calls were no longer lately: then the gate opens, and this says nothing.
bool spells_double_up_to_eight(int events) {
  using std::chrono::milliseconds, std::chrono::steady_clock;
  constexpr milliseconds a_while{100};
  event_gate gate{events, a_while};
  const auto calls = [&gate] {
    gate.mute();
    gate.unmute_later();
  };
  const auto before_all = steady_clock::now();
  for (int k = 0; k < 9; ++k)
    calls();
  for (const int whiles : {1, 2, 4, 8, 8}) {
    const auto begin = steady_clock::now();
    const auto left = left_of_the_timer_of(gate);
    if (whiles == 1 && begin - before_all >= a_while) return false;
    EXPECT_LE(left, whiles * a_while);
    pollfd watched{gate.fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&watched, 1, 10'000), 1);
    EXPECT_GE(steady_clock::now() - begin, left - milliseconds(1)) << whiles;
    const auto last_call = steady_clock::now();
    calls();
    gate.woke();
    if (steady_clock::now() - last_call >= a_while / 2) return false;
    EXPECT_GT(left_of_the_timer_of(gate), std::min(2 * whiles, 8) * a_while - a_while / 2) << whiles;
  }
  return true;
}

TEST_F(gate, the_longer_calls_follow_each_other_the_seldomer_wakes_the_timer) {
  for (int trial = 0; trial < 20 && !HasFailure(); ++trial)
    if (spells_double_up_to_eight(events)) return;
  FAIL() << "the machine was too busy for 20 trials";
}

TEST_F(gate, is_open_in_the_end_whoever_mutes_and_unmutes) {
  std::mutex lock;
  std::atomic<bool> over{false};
  std::thread sleeper([&] {
    while (!over.load()) {
      wakes(1);
      it.woke();
    }
  });
  std::vector<std::thread> others;
  for (int t = 0; t < 3; ++t)
    others.emplace_back([&, t] {
      for (int k = 0; k < 5'000; ++k) {
        const std::lock_guard ownership(lock);
        it.mute();
        if ((k + t) % 5 < 2) {
          it.unmute();
          continue;
        }
        it.unmute_later();
        if (k % 7 == 0) it.not_later();
      }
    });
  for (std::thread& other : others)
    other.join();
  while (it.opens_later())
    std::this_thread::yield();
  over.store(true);
  sleeper.join();
  happens();
  EXPECT_TRUE(wakes());
}

TEST(no_gate, does_nothing) {
  event_gate none(-1);
  EXPECT_LT(none.fd(), 0);
  none.mute();
  none.unmute_later();
  none.woke();
  none.unmute();
}

} // namespace
