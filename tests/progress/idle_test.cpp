// SPDX-License-Identifier: BSD-3-Clause
#include "progress/driving/idle.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using weft::progress::idle_ladder;
using weft::progress::idle_policy;
using step = idle_ladder::step;

std::vector<step> climb(idle_ladder& ladder, unsigned sweeps) {
  std::vector<step> steps;
  for (unsigned i = 0; i < sweeps; ++i)
    steps.push_back(ladder.next());
  return steps;
}

TEST(idle_ladder, spins_then_yields_then_sleeps_for_good) {
  idle_ladder ladder{{.scarce = false, .spins = 2, .yields = 1}};
  EXPECT_EQ(climb(ladder, 5), (std::vector{step::spin, step::spin, step::yield, step::sleep, step::sleep}));
}

TEST(idle_ladder, starts_again_after_progress) {
  idle_ladder ladder{{.scarce = false, .spins = 1, .yields = 1}};
  climb(ladder, 3);
  ladder.reset();
  EXPECT_EQ(climb(ladder, 3), (std::vector{step::spin, step::yield, step::sleep}));
}

TEST(idle_ladder, never_spins_when_cores_are_scarce) {
  idle_ladder ladder{{.scarce = true, .spins = 100, .yields = 2}};
  EXPECT_EQ(climb(ladder, 3), (std::vector{step::yield, step::yield, step::sleep}));
  ladder.reset();
  EXPECT_EQ(ladder.next(), step::yield);
}

TEST(idle_ladder, sleeps_at_once_without_rungs) {
  idle_ladder ladder{{.scarce = true, .spins = 100, .yields = 0}};
  EXPECT_EQ(ladder.next(), step::sleep);
}

TEST(idle_ladder, default_policy_has_all_rungs) {
  idle_ladder ladder{idle_policy{}};
  const std::vector<step> steps = climb(ladder, 10'000);
  EXPECT_EQ(steps.front(), step::spin);
  EXPECT_EQ(steps.back(), step::sleep);
}

struct clock_of_yields {
  std::chrono::nanoseconds time{0}, each{0};
  std::chrono::nanoseconds now() const { return time; }
  void yield() { time += each; }
};
bool comes_back_late(weft::progress::late_yields& all, std::chrono::nanoseconds after) {
  clock_of_yields net{.each = after};
  return all.yield(net);
}

unsigned sleeps_before_the_next_try(weft::progress::late_yields& all) {
  unsigned sleeps = 0;
  while (all.sleeps_instead())
    ++sleeps;
  return sleeps;
}

TEST(late_yields, are_tried_ever_more_seldom_until_one_comes_back_soon) {
  weft::progress::late_yields all;
  EXPECT_EQ(sleeps_before_the_next_try(all), 0u);
  for (const unsigned sleeps : {1, 3, 7, 15, 31, 63, 63}) {
    EXPECT_TRUE(comes_back_late(all, std::chrono::milliseconds(3)));
    EXPECT_EQ(sleeps_before_the_next_try(all), sleeps);
    EXPECT_TRUE(all.last_was_late());
  }
  EXPECT_FALSE(comes_back_late(all, std::chrono::microseconds(900)));
  EXPECT_FALSE(all.last_was_late());
  EXPECT_EQ(sleeps_before_the_next_try(all), 0u);
  EXPECT_TRUE(comes_back_late(all, std::chrono::microseconds(1100)));
  EXPECT_EQ(sleeps_before_the_next_try(all), 1u);
}

} // namespace
