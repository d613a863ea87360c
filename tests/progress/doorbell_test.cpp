// SPDX-License-Identifier: BSD-3-Clause
#include "progress/driving/doorbell.hpp"
#include "tests/progress/crew.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace {

using weft::progress::doorbell;
using weft::progress::sleeping_place;
using weft::testing::deadline;
using weft::testing::run_together;

// Sleeps until the bell is rung; false when no thread rang.
bool rung_within(const doorbell& bell, std::chrono::milliseconds limit) {
  pollfd entry{.fd = bell.fd(), .events = POLLIN, .revents = 0};
  int result = 0;
  while ((result = ::poll(&entry, 1, static_cast<int>(limit.count()))) < 0 && errno == EINTR) {
  }
  return result == 1 && (entry.revents & POLLIN) != 0;
}

TEST(doorbell, keeps_rings_until_drained) {
  doorbell bell;
  EXPECT_FALSE(bell.drain());
  EXPECT_FALSE(rung_within(bell, std::chrono::milliseconds{0}));
  bell.ring();
  bell.ring();
  bell.ring();
  EXPECT_EQ(bell.rings(), 3u);
  EXPECT_TRUE(rung_within(bell, std::chrono::milliseconds{0}));
  EXPECT_TRUE(bell.drain());
  EXPECT_FALSE(bell.drain());
  EXPECT_FALSE(rung_within(bell, std::chrono::milliseconds{0}));
}

TEST(doorbell, closes_its_descriptor_once) {
  int descriptor = -1;
  {
    doorbell first;
    descriptor = first.fd();
    first.ring();
    doorbell second{std::move(first)};
    EXPECT_EQ(second.fd(), descriptor);
    EXPECT_EQ(first.fd(), -1) << "two owners"; // NOLINT(bugprone-use-after-move): moved-from is empty
    EXPECT_EQ(second.rings(), 1u);
    EXPECT_TRUE(second.drain());

    doorbell third;
    const int dropped = third.fd();
    third = std::move(second);
    EXPECT_EQ(third.fd(), descriptor);
    EXPECT_EQ(::fcntl(dropped, F_GETFD), -1);
    EXPECT_NE(::fcntl(descriptor, F_GETFD), -1);
  }
  EXPECT_EQ(::fcntl(descriptor, F_GETFD), -1);
}

TEST(doorbell, is_not_inherited_by_another_program) {
  doorbell bell;
  EXPECT_NE(::fcntl(bell.fd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(doorbell, rings_in_another_process) {
  doorbell bell;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    doorbell handed_over{::dup(bell.fd())};
    handed_over.ring();
    ::_exit(0);
  }
  EXPECT_TRUE(rung_within(bell, deadline::patience_limit));
  EXPECT_TRUE(bell.drain());
  EXPECT_EQ(bell.rings(), 0u) << "only its own rings are counted";
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
}

// The sleeper drains before it looks; two threads put work down and ring each time. Caught here: a ring that
// does nothing, or a drain that keeps a later ring from being heard (the sleeper is not woken).
TEST(doorbell_stress, no_work_is_left_behind) {
  constexpr unsigned ringers = 2;
  constexpr unsigned pieces = 30'000;
  doorbell bell;
  std::atomic<unsigned> work{0};
  unsigned done = 0;
  run_together(ringers + 1, [&](unsigned me) {
    if (me < ringers) {
      for (unsigned i = 0; i < pieces; ++i) {
        work.fetch_add(1, std::memory_order_release);
        bell.ring();
      }
      return;
    }
    while (done < ringers * pieces) {
      ASSERT_TRUE(rung_within(bell, deadline::patience_limit)) << "not woken after " << done;
      EXPECT_TRUE(bell.drain());
      done += work.exchange(0, std::memory_order_acquire);
    }
  });
  EXPECT_EQ(done, ringers * pieces);
  EXPECT_EQ(bell.rings(), ringers * pieces);
}

// As sleeper.hpp does it: announces itself, reads the number, looks for the last time, sleeps without limit.
class sleeping_thread {
public:
  sleeping_thread(sleeping_place& at, int event)
      : thread_([this, &at, event] {
          while (!over_.load(std::memory_order_acquire)) {
            at.sleepers.fetch_add(1, std::memory_order_seq_cst);
            const std::uint64_t seen = at.news();
            if (!over_.load(std::memory_order_acquire))
              at.sleep(seen, std::chrono::milliseconds(-1), [&] {
                listens.store(true, std::memory_order_release);
                pollfd both[] = {{at.bell.fd(), POLLIN, 0}, {event, POLLIN, 0}};
                ::poll(both, 2, -1);
              });
            at.sleepers.fetch_sub(1, std::memory_order_seq_cst);
          }
        }) {}
  ~sleeping_thread() { thread_.join(); }
  sleeping_thread(const sleeping_thread&) = delete;
  sleeping_thread& operator=(const sleeping_thread&) = delete;

  void end() { over_.store(true, std::memory_order_release); }
  std::atomic<bool> listens{false};

private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

void await(const std::atomic<bool>& fact) {
  while (!fact.load(std::memory_order_acquire))
    std::this_thread::yield();
}

// As beside a thread that drives. Mutation that this catches: a ring that only the thread hears which
// listens.
TEST(sleeping_place, a_ring_wakes_a_thread_while_none_listens) {
  sleeping_place place;
  std::atomic<bool> woken{false};
  std::thread waits([&] {
    place.sleepers.fetch_add(1, std::memory_order_seq_cst);
    place.wait_for_news(0, std::chrono::milliseconds(-1));
    woken.store(true, std::memory_order_release);
  });
  while (place.sleepers.load() == 0)
    std::this_thread::yield();
  place.wake();
  waits.join();
  EXPECT_TRUE(woken.load());
  EXPECT_EQ(place.news(), 1u);
}

TEST(sleeping_place, a_ring_wakes_all_threads_that_sleep_there) {
  for (unsigned round = 0; round != 200; ++round) {
    sleeping_place place;
    sleeping_thread a(place, -1), b(place, -1), c(place, -1);
    if (round % 2 == 0) // all asleep, or still about to be
      while (place.sleepers.load() != 3)
        std::this_thread::yield();
    a.end(), b.end(), c.end();
    place.ring();
  }
}

// Mutation that this catches: a thread that ceases to listen and tells none of the others.
TEST(sleeping_place, another_thread_listens_when_one_ceases) {
  for (unsigned round = 0; round != 100; ++round) {
    sleeping_place place;
    doorbell network;
    sleeping_thread first(place, network.fd());
    await(first.listens);
    sleeping_thread second(place, network.fd());
    while (place.sleepers.load() != 2)
      std::this_thread::yield();
    first.end();
    network.ring(); // which first takes away
    while (place.sleepers.load() == 2 && !second.listens.load())
      std::this_thread::yield();
    network.drain();
    await(second.listens);
    second.end();
    network.ring();
  }
}

} // namespace
