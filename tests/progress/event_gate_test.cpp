#include "progress/driving/event_gate.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <poll.h>
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

  const int events = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  event_gate it{events};
};

TEST_F(gate, what_comes_wakes_unless_it_is_muted) {
  EXPECT_FALSE(wakes());
  happens();
  EXPECT_TRUE(wakes());
  it.mute();
  EXPECT_FALSE(wakes());
  it.mute();
  it.unmute();
  EXPECT_FALSE(wakes()) << "somebody else still has it muted";
  it.unmute();
  EXPECT_TRUE(wakes()) << "what came while it was muted";
}

TEST_F(gate, wakes_a_moment_later_whether_something_comes_or_not_and_muted_too) {
  it.mute();
  it.wake_soon();
  EXPECT_TRUE(it.wakes_soon());
  EXPECT_TRUE(wakes(10'000));
  it.woke();
  EXPECT_FALSE(it.wakes_soon());
  EXPECT_FALSE(wakes()) << "the timer has been heard";
  it.unmute();
  happens();
  EXPECT_TRUE(wakes()) << "and it is open";
}

TEST_F(gate, several_share_the_timer) {
  for (int k = 0; k < 3; ++k)
    it.wake_soon();
  EXPECT_TRUE(wakes(10'000));
  it.woke();
  EXPECT_FALSE(wakes(50));
}

TEST_F(gate, who_drives_takes_the_timer_back) {
  it.wake_soon();
  it.wake_no_more();
  EXPECT_FALSE(it.wakes_soon());
  EXPECT_FALSE(wakes(50));
  it.wake_soon();
  EXPECT_TRUE(wakes(10'000)) << "the next one sets it again";
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
        if ((k + t) % 3 == 0) it.wake_no_more();
        it.mute();
        if ((k + t) % 2 == 0) it.wake_soon();
        it.unmute();
      }
    });
  for (std::thread& other : others)
    other.join();
  while (it.wakes_soon())
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
  none.wake_soon();
  none.woke();
  none.unmute();
}

} // namespace
