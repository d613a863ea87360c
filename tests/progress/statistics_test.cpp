// SPDX-License-Identifier: BSD-3-Clause
#include "progress/execution/recorder.hpp"
#include "progress/execution/statistics.hpp"
#include "tests/progress/crew.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace {

using weft::progress::counter;
using weft::progress::snapshot;
using weft::progress::statistics;
using weft::progress::statistics_snapshot;
using weft::progress::statistics_table;
using weft::testing::run_together;

TEST(statistics, table_names_every_counter_once) {
  std::set<std::string> names;
  statistics counts;
  for (const auto& entry : statistics_table) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(std::string{entry.help}.empty()) << entry.name;
    EXPECT_EQ((counts.*entry.counted).value(), 0u) << entry.name;
    (counts.*entry.counted).add();
  }
  for (const auto& entry : statistics_table) {
    EXPECT_EQ((counts.*entry.counted).value(), 1u) << entry.name << " is listed twice or never";
  }
}

// Caught here: an entry that pairs one counter with the snapshot's member of another.
TEST(statistics, snapshot_copies_each_counter_to_its_own_member) {
  statistics counts;
  counts.posts.add(3);
  counts.rings.add_concurrent(5);
  counts.chunks_assisted.add_concurrent(7);
  const statistics_snapshot seen = snapshot(counts);
  EXPECT_EQ(seen.posts, 3u);
  EXPECT_EQ(seen.rings, 5u);
  EXPECT_EQ(seen.chunks_assisted, 7u);

  for (const auto& entry : statistics_table) {
    statistics one;
    (one.*entry.counted).add(9);
    const statistics_snapshot only = snapshot(one);
    for (const auto& other : statistics_table) {
      EXPECT_EQ(only.*other.member, other.name == entry.name ? 9u : 0u) << entry.name << " / " << other.name;
    }
  }
}

// Caught here: add_concurrent() as a load and a store (the sum is short); a plain integer in counter
// (ThreadSanitizer reports the race with the reader).
TEST(statistics_stress, loses_nothing_and_never_runs_backwards) {
  constexpr unsigned writers = 3;
  constexpr unsigned additions = 100'000;
  counter shared;
  counter owned;
  std::atomic<unsigned> running{writers};
  run_together(writers + 1, [&](unsigned me) {
    if (me == writers) {
      std::uint64_t last = 0;
      while (running != 0) {
        const std::uint64_t now = owned.value();
        EXPECT_GE(now, last);
        last = now;
        std::this_thread::yield();
      }
      return;
    }
    for (unsigned i = 0; i < additions; ++i) {
      shared.add_concurrent();
      if (me == 0) owned.add(2);
    }
    --running;
  });
  EXPECT_EQ(shared.value(), std::uint64_t{writers} * additions);
  EXPECT_EQ(owned.value(), std::uint64_t{2} * additions);
}

// The oldest events make room. Mutation: a ring that stops when it is full.
TEST(recorder, keeps_the_newest_events_in_order) {
  weft::progress::recorder r(8);
  for (int wait = 0; wait != 3; ++wait)
    r.waited(r.waiting());
  EXPECT_EQ(r.events().size(), 6u);
  EXPECT_EQ(r.lost(), 0u);
  for (int wait = 0; wait != 7; ++wait)
    r.waited(r.waiting());
  const auto events = r.events();
  ASSERT_EQ(events.size(), 8u);
  EXPECT_EQ(r.lost(), 12u);
  using happening = weft::progress::recorder::happening;
  for (std::size_t k = 0; k != events.size(); ++k) {
    EXPECT_EQ(events[k].what, k % 2 == 0 ? happening::waiting : happening::waited);
    EXPECT_GE(events[k].at, events[k == 0 ? 0 : k - 1].at);
  }
  r.stop();
  (void)r.waiting();
  EXPECT_EQ(r.events().size(), 8u);
  EXPECT_EQ(r.lost(), 12u);
}

// Each event has a place of its own, whichever thread notes it.
TEST(recorder, takes_what_several_threads_note) {
  constexpr std::size_t threads = 4, waits = 1000;
  weft::progress::recorder r(2 * threads * waits);
  run_together(threads, [&](std::size_t) {
    for (std::size_t k = 0; k != waits; ++k)
      (void)r.waiting();
  });
  EXPECT_EQ(r.events().size(), threads * waits);
  for (const auto& e : r.events())
    EXPECT_NE(e.at, 0u);
}

} // namespace
