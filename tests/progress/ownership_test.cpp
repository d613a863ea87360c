// SPDX-License-Identifier: BSD-3-Clause
#include "progress/driving/ownership.hpp"
#include "tests/progress/crew.hpp"

#include <gtest/gtest.h>

#include <array>
#include <utility>

namespace {

using weft::progress::ownership;
using weft::progress::ownership_request;
using weft::testing::patience;
using weft::testing::run_together;
using weft::testing::wait_until;

TEST(ownership, has_one_owner_at_a_time) {
  ownership b;
  EXPECT_FALSE(b.held());
  EXPECT_TRUE(b.try_acquire());
  EXPECT_TRUE(b.held());
  EXPECT_FALSE(b.try_acquire());
  b.release();
  EXPECT_FALSE(b.held());
  EXPECT_TRUE(b.try_acquire());
  b.release();
}

TEST(ownership, counts_requests) {
  ownership b;
  EXPECT_FALSE(b.requested());
  {
    ownership_request first{b, ownership_request::what::to_drive};
    { const ownership_request second{b, ownership_request::what::to_drive}; }
    EXPECT_TRUE(b.requested());
    first.set(false);
    EXPECT_FALSE(b.requested());
    first.set(true);
  }
  EXPECT_FALSE(b.requested());
}

TEST(ownership, knows_who_needs_it_from_who_would_drive) {
  ownership b;
  const ownership_request waits{b, ownership_request::what::to_drive};
  EXPECT_FALSE(b.needed());
  {
    const ownership_request needs{b};
    EXPECT_TRUE(b.needed());
  }
  EXPECT_FALSE(b.needed());
  EXPECT_TRUE(b.requested());
}

// Everything under progress ownership is plain data. Caught here: try_acquire() with a load and a store in
// place of the exchange, release() or try_acquire() relaxed (ThreadSanitizer reports the race; without it,
// the first of them makes sums short now and then).
TEST(ownership_stress, protects_plain_data) {
  constexpr unsigned threads = 4;
  constexpr unsigned turns = 100'000;
  ownership b;
  std::array<unsigned long, 16> sums{};
  run_together(threads, [&](unsigned) {
    for (unsigned turn = 0; turn < turns; ++turn) {
      patience waiting;
      while (!b.try_acquire())
        waiting.wait();
      for (unsigned long& sum : sums)
        sum = sum + 1;
      b.release();
      // Stays away for a moment that differs each time, so that the others see progress ownership free.
      for (unsigned i = turn % 8; i != 0; --i)
        weft::progress::cpu_relax();
    }
  });
  for (const unsigned long sum : sums)
    EXPECT_EQ(sum, static_cast<unsigned long>(threads) * turns);
}

// A dedicated thread that never lets go by itself gives way to whoever asks, and comes back afterwards.
// Caught here: a request without effect (no other thread gets in), one that is not withdrawn (the dedicated
// thread stays away for ever).
TEST(ownership_stress, dedicated_thread_gives_way_and_returns) {
  constexpr unsigned visitors = 2;
  constexpr unsigned visits = 5'000;
  ownership b;
  unsigned long sum = 0; // plain, under progress ownership
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
      const ownership_request wish{b};
      ASSERT_TRUE(wait_until([&] { return b.try_acquire(); }));
      sum = sum + 1;
      b.release();
    }
  });
  EXPECT_TRUE(wait_until([&] { return b.held(); })) << "the dedicated thread did not come back";
  stop = true;
  dedicated.join();
  EXPECT_EQ(sum, static_cast<unsigned long>(visitors) * visits);
}

} // namespace
