// SPDX-License-Identifier: BSD-3-Clause
// Rows in shared memory, with more operations in flight than a team has slots: members on other nodes ask for
// rows, or are sent them, while those who own them are far ahead.
#include "tests/simulated/seeds.hpp"
#include "tests/simulated/simulated_run.hpp"

#include <gtest/gtest.h>

namespace weft::tests {
namespace {
using collectives::operation;
using collectives::request;
using graph::sync;
using transport::sim::seeded_random;

collective_case program_by_rows(std::uint64_t seed) {
  seeded_random random(seed * 2 + 1);
  collective_case c;
  c.seed = seed;
  c.ranks = static_cast<std::uint32_t>(4 + random.below(7));
  for (std::uint32_t rank = 0; rank < c.ranks; ++rank)
    c.nodes.push_back(rank / 2);
  c.sluggard =
      random.coin(0.5) ? static_cast<std::uint32_t>(random.below(c.ranks)) : collective_case::no_rank;
  c.late = 0.1;
  constexpr std::array operations{operation::scatter_x, operation::gather_x, operation::permute_x,
                                  operation::permute};
  auto& round = c.rounds.emplace_back();
  for (int k = 0; k < 44; ++k) {
    request r{operations[random.below(4)], random.coin(0.5) ? sync::my : sync::all,
              random.coin(0.8) ? sync::my : sync::all};
    if (r.op == operation::permute) r.bytes = random.coin(0.5) ? 8 : 4000;
    round.push_back(lay_out(c.ranks, r, random.next(), 64));
  }
  return c;
}

TEST(rows, programs_of_many_give_what_the_serial_reference_gives) {
  const seed_range seeds(150);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last && !HasFailure(); ++seed) {
    EXPECT_EQ("", failure_of(program_by_rows(seed))) << "replay with WEFT_SEED=" << seed;
  }
}

} // namespace
} // namespace weft::tests
