#include "progress/driving/baton.hpp"
#include "tests/progress/crew.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace {

using weft::progress::baton;
using weft::progress::baton_request;
using weft::progress::held_baton;
using weft::testing::patience;
using weft::testing::run_together;
using weft::testing::wait_until;

TEST(baton, has_one_owner_at_a_time) {
  baton b;
  EXPECT_FALSE(b.held());
  EXPECT_TRUE(b.try_acquire());
  EXPECT_TRUE(b.held());
  EXPECT_FALSE(b.try_acquire());
  b.release();
  EXPECT_FALSE(b.held());
  EXPECT_TRUE(b.try_acquire());
  b.release();
}

TEST(baton, counts_requests) {
  baton b;
  EXPECT_FALSE(b.requested());
  b.request();
  {
    baton_request second{b};
    b.withdraw();
    EXPECT_TRUE(b.requested());
  }
  EXPECT_FALSE(b.requested());
}

TEST(baton, held_baton_releases_once) {
  baton b;
  held_baton first = held_baton::try_acquire(b);
  EXPECT_TRUE(first);
  EXPECT_FALSE(held_baton::try_acquire(b));

  held_baton second = std::move(first);
  EXPECT_FALSE(first); // NOLINT(bugprone-use-after-move): a moved-from holder is empty
  EXPECT_TRUE(b.held());
  second.release();
  EXPECT_FALSE(b.held());

  ASSERT_TRUE(b.try_acquire()); // somebody else's now: the empty holders must leave it alone
  first.release();
  second = held_baton{};
  EXPECT_TRUE(b.held());
  b.release();
}

TEST(baton, held_baton_releases_what_it_is_assigned_over) {
  baton a;
  baton b;
  held_baton holder = held_baton::try_acquire(a);
  holder = held_baton::try_acquire(b);
  EXPECT_FALSE(a.held());
  EXPECT_TRUE(b.held());
}

// Everything under the baton is plain data. Caught here: try_acquire() with a load and a store in place of
// the exchange, release() or try_acquire() relaxed (ThreadSanitizer reports the race; without it, the first
// of them makes sums short now and then).
TEST(baton_stress, protects_plain_data) {
  constexpr unsigned threads = 4;
  constexpr unsigned turns = 100'000;
  baton b;
  std::array<unsigned long, 16> sums{};
  run_together(threads, [&](unsigned) {
    for (unsigned turn = 0; turn < turns; ++turn) {
      patience waiting;
      while (!b.try_acquire())
        waiting.wait();
      for (unsigned long& sum : sums)
        sum = sum + 1;
      b.release();
      // Stays away for a moment that differs each time, so that the others see the baton free.
      for (unsigned i = turn % 8; i != 0; --i)
        weft::progress::cpu_relax();
    }
  });
  for (const unsigned long sum : sums)
    EXPECT_EQ(sum, static_cast<unsigned long>(threads) * turns);
}

// A dedicated thread that never lets go by itself gives way to whoever asks, and comes back afterwards.
// Caught here: request() without effect (nobody else gets in), withdraw() without effect (the dedicated
// thread stays away for ever).
TEST(baton_stress, dedicated_thread_gives_way_and_returns) {
  constexpr unsigned visitors = 2;
  constexpr unsigned visits = 5'000;
  baton b;
  unsigned long sum = 0; // plain, under the baton
  std::atomic<bool> stop{false};
  std::thread dedicated{[&] {
    while (!stop) {
      if (b.requested() || !b.try_acquire()) {
        std::this_thread::yield();
        continue;
      }
      while (!b.requested() && !stop)
        sum = sum + 0;
      b.release();
    }
  }};
  run_together(visitors, [&](unsigned) {
    for (unsigned visit = 0; visit < visits; ++visit) {
      const baton_request wish{b};
      held_baton mine;
      ASSERT_TRUE(wait_until([&] { return static_cast<bool>(mine = held_baton::try_acquire(b)); }));
      sum = sum + 1;
    }
  });
  EXPECT_TRUE(wait_until([&] { return b.held(); })) << "the dedicated thread did not come back";
  stop = true;
  dedicated.join();
  EXPECT_EQ(sum, static_cast<unsigned long>(visitors) * visits);
}

} // namespace
