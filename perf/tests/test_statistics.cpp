// SPDX-License-Identifier: BSD-3-Clause
#include "perf/bench/statistics.hpp"

#include <gtest/gtest.h>

namespace {

TEST(statistics, quantile_interpolates_between_neighbours) {
  EXPECT_DOUBLE_EQ(perf::quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(perf::quantile({4, 1, 3, 2}, 0.0), 1);
  EXPECT_DOUBLE_EQ(perf::quantile({4, 1, 3, 2}, 1.0), 4);
  EXPECT_DOUBLE_EQ(perf::quantile({7}, 0.99), 7);
}

TEST(statistics, median_is_not_the_mean) {
  const std::vector<double> samples{1, 1, 1, 1, 4000};
  EXPECT_DOUBLE_EQ(perf::median(samples), 1);
  EXPECT_DOUBLE_EQ(perf::sum(samples), 4004);
}

TEST(statistics, overlap_is_the_hidden_share_of_the_communication) {
  EXPECT_DOUBLE_EQ(perf::overlap_percent(100, 100, 50), 100);
  EXPECT_DOUBLE_EQ(perf::overlap_percent(150, 100, 50), 0);
  EXPECT_DOUBLE_EQ(perf::overlap_percent(125, 100, 50), 50);
}

TEST(statistics, overlap_stays_within_its_bounds) {
  EXPECT_DOUBLE_EQ(perf::overlap_percent(90, 100, 50), 100);
  EXPECT_DOUBLE_EQ(perf::overlap_percent(500, 100, 50), 0);
  EXPECT_DOUBLE_EQ(perf::overlap_percent(100, 100, 0), 0);
}

} // namespace
