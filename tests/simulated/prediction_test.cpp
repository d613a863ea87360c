// Without chaos the virtual clock predicts what an operation costs.
#include "tests/simulated/simulated_run.hpp"

#include <gtest/gtest.h>

namespace weft::tests {
namespace {

simulated_run_result one_barrier(std::uint32_t ranks) {
  collective_case c;
  c.seed = 1;
  c.ranks = ranks;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    c.nodes.push_back(rank);
  c.rounds.assign(1, {collective_case::call{}});
  simulated_run_options options;
  options.chaos = {};
  return run_simulated(c, options);
}

TEST(prediction, a_barrier_between_nodes_takes_a_message_for_each_round_and_rank) {
  EXPECT_EQ(8u * 3, one_barrier(8).messages);
  EXPECT_EQ(64u * 6, one_barrier(64).messages);
}

TEST(prediction, a_barrier_between_nodes_takes_time_in_proportion_to_its_rounds) {
  const transport::simulated_costs costs;
  const double round = costs.latency + 2 * costs.o;
  const auto of = [&](std::uint32_t ranks) {
    return static_cast<double>(one_barrier(ranks).elapsed.count());
  };
  const double small = of(8), large = of(64);
  EXPECT_GT(small, 3 * round);
  EXPECT_GT(large, 6 * round);
  EXPECT_NEAR(2, large / small, 0.3);
}

} // namespace
} // namespace weft::tests
