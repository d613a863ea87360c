// SPDX-License-Identifier: BSD-3-Clause
// More operations in flight than a team has slots, of which late ones ask far members for credit before early
// ones do: what an early one needs must not wait for what a late one has asked for.
//
// Mutations that this catches: one question stands for all; an answer leaves its question open.
#include "tests/simulated/seeds.hpp"
#include "tests/simulated/simulated_run.hpp"

#include <gtest/gtest.h>

namespace weft::tests {
namespace {
using collectives::operation;
using collectives::request;
using graph::sync;
using transport::sim::seeded_random;

// Each rank on a node of its own: members of barriers speak to few others.
collective_case program_of(std::uint64_t seed) {
  seeded_random random(seed * 2 + 1);
  collective_case c;
  c.seed = seed;
  c.ranks = static_cast<std::uint32_t>(5 + random.below(4));
  for (std::uint32_t rank = 0; rank < c.ranks; ++rank)
    c.nodes.push_back(rank);
  auto& round = c.rounds.emplace_back();
  const auto add = [&](std::uint64_t times, const request& r) {
    for (; times != 0; --times)
      round.push_back(lay_out(c.ranks, r, random.next(), 64));
  };
  add(15 + random.below(20), {operation::exchange, sync::my, sync::no, graph::hint::none, 0, 46});
  add(15 + random.below(20), {operation::barrier});
  add(1 + random.below(8), {operation::gather_all, sync::my, sync::my, graph::hint::none, 0, 16});
  return c;
}

TEST(credit, of_an_early_operation_does_not_wait_for_that_of_a_late_one) {
  const seed_range seeds(300);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last && !HasFailure(); ++seed) {
    EXPECT_EQ("", failure_of(program_of(seed))) << "replay with WEFT_SEED=" << seed;
  }
}

} // namespace
} // namespace weft::tests
