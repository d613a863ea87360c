// SPDX-License-Identifier: BSD-3-Clause
// Plans made of plans run: the payloads of two parts of one operation, between the same members, are told
// apart. By seeds, on any hosts, several operations in a row, members late.
//
// Mutations that this catches: all phases of a slot have one stamp; a message is kept in the cells of the
// first phase.
#include "tests/simulated/plan_player.hpp"
#include "tests/simulated/seeds.hpp"
#include "tests/toys/relayed.hpp"

namespace weft::tests {
namespace {

std::byte content(std::uint32_t rank, std::uint32_t call, std::uint64_t k) {
  return static_cast<std::byte>((rank * 131 + call * 31 + k * 7 + 5) * 2654435761u >> 13);
}

std::vector<std::uint32_t> random_hosts(std::mt19937_64& draw) {
  const std::uint64_t ranks = 1 + draw() % 6, hosts = 1 + draw() % ranks;
  std::vector<std::uint32_t> nodes;
  for (std::uint64_t r = 0; r < ranks; ++r)
    nodes.push_back(static_cast<std::uint32_t>(draw() % hosts));
  return nodes;
}

// `bytes`: of each rank's part of the result, which is that of rank k, or of rank 0 alone.
played_plan case_of(std::uint64_t seed, bool gathers) {
  std::mt19937_64 draw(seed);
  played_plan p;
  p.nodes = random_hosts(draw);
  const std::uint64_t ranks = p.nodes.size(), bytes = 1 + draw() % (2048 / ranks);
  p.source = gathers ? bytes : 2 * bytes;
  p.destination = gathers ? bytes * ranks : 2 * bytes;
  p.make = [=](std::uint32_t me, const graph::topology& g) {
    return (gathers ? gather_all_relayed : broadcast_in_halves)(me, g, bytes);
  };
  p.fill = [n = p.source](std::uint32_t rank, std::uint32_t call, std::byte* to) {
    for (std::uint64_t k = 0; k < n; ++k)
      to[k] = content(rank, call, k);
  };
  p.check = [=, n = p.destination](std::uint32_t rank, std::uint32_t call, const std::byte* from) {
    for (std::uint64_t k = 0; k < n; ++k) {
      const auto owner = static_cast<std::uint32_t>(gathers ? k / bytes : 0);
      ASSERT_EQ(from[k], content(owner, call, gathers ? k % bytes : k))
          << "rank " << rank << " call " << call << " byte " << k;
    }
  };
  return p;
}

void play_seeds(bool gathers) {
  const seed_range seeds(300);
  for (std::uint64_t seed = seeds.first; seed <= seeds.last; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    play(case_of(seed, gathers), seed);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(composition, brings_all_blocks_to_one_and_from_there_to_all) {
  play_seeds(true);
}

TEST(composition, sends_two_payloads_to_the_same_member) {
  play_seeds(false);
}

} // namespace
} // namespace weft::tests
