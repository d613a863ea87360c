// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm that hands data on, forced, in programs of nothing else, on machines on which it takes
// several steps: the random programs of all operations meet these rarely. Caught here: of doubling, a half of
// which only the first stretch is put, or sent on before the partner's is there, or announced before it is in
// place, or told to the neighbours without waking them or too early; of a ring,
// the last blocks that a leader has not awaited under OUT_NO.
#include "testing/simulated/random.hpp"
#include "tests/simulated/seeds.hpp"
#include "tests/simulated/simulated_run.hpp"

#include <array>
#include <gtest/gtest.h>

namespace weft::tests {
namespace {
using collectives::algorithm;
using collectives::request;
using graph::sync;
using transport::sim::seeded_random;

std::vector<std::uint32_t> machine_of(std::uint64_t shape) {
  const auto of = [](std::uint32_t ranks, auto&& node) {
    std::vector<std::uint32_t> map;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      map.push_back(node(rank));
    return map;
  };
  switch (shape) {
  case 0:
    return of(8, [](std::uint32_t rank) { return rank; });
  case 1:
    return of(8, [](std::uint32_t rank) { return rank / 2; });
  case 2:
    return of(12, [](std::uint32_t rank) { return rank % 4; });
  case 3:
    return of(7, [](std::uint32_t rank) { return rank % 5; });
  default:
    return {3, 1, 1, 0, 2, 3, 1, 0, 2, 2};
  }
}

sync mode_of(const algorithm& a, seeded_random& random) {
  if (a.name == "relayed") return sync::my;
  if (a.name != "bundled") return sync::all;
  if (a.op == operation::broadcast) return sync::no;
  const bool any = a.op == operation::scatter || a.op == operation::gather;
  return std::array{sync::no, sync::my, sync::all}[random.below(any ? 3 : 2)];
}

// A few calls at a time, or more than a team has slots, in flight together or one after the other.
collective_case program_of(const algorithm& a, std::uint64_t seed) {
  seeded_random random(seed * 2 + 1);
  collective_case c;
  c.seed = seed;
  c.nodes = machine_of(random.below(5));
  c.ranks = static_cast<std::uint32_t>(c.nodes.size());
  c.late = random.coin(0.5) ? 0.2 : 0;
  const auto call = [&](std::uint64_t most) {
    constexpr std::array<std::uint64_t, 5> sizes{1, 57, 640, 2049, 6000};
    request r{a.op, mode_of(a, random), std::array{sync::no, sync::my, sync::all}[random.below(3)]};
    if (rooted(a.op)) r.root = static_cast<std::uint32_t>(random.below(c.ranks));
    do
      r.bytes = sizes[random.below(sizes.size())];
    while (r.bytes > (computes(a.op) ? 57 : most));
    return lay_out(c.ranks, r, random.next(), r.bytes);
  };
  const std::uint64_t shape = random.below(8);
  if (shape == 0) {
    c.rounds.assign(40, {call(57)});
  } else if (shape == 1) {
    for (std::size_t k = 0; k < 36; ++k)
      (k == 0 ? c.rounds.emplace_back() : c.rounds.back()).push_back(call(57));
  } else {
    for (std::uint64_t k = random.below(4) + 1; k != 0; --k)
      c.rounds.emplace_back(1 + random.below(3), call(6000));
  }
  return c;
}

class handing_on : public testing::TestWithParam<const algorithm*> {};

TEST_P(handing_on, gives_what_the_serial_reference_gives) {
  const algorithm& a = *GetParam();
  simulated_run_options options;
  options.tuning = collectives::tuning{};
  options.tuning->bundles = true;
  options.tuning->forced = collectives::parse_choice(std::string(name(a.op)) + "=" + std::string(a.name));
  if (a.name == "relayed") options.tuning->costs.gap *= 100; // a deep tree, though hosts are few
  options.chaos.landing_ns = 300'000; // a rank that leaves before a put to it has landed is seen to
  std::uint64_t used = 0;
  for (std::uint64_t seed = 1; seed <= 120 / seeds_share && !HasFailure(); ++seed) {
    const collective_case c = program_of(a, seed);
    const request& first = c.rounds.front().front().request;
    used += choose(first, graph::topology(0, c.nodes), *options.tuning) == &a;
    EXPECT_EQ("", failure_of(c, options));
  }
  EXPECT_GE(used, 10 / seeds_share);
}

std::vector<const algorithm*> staged_algorithms() {
  std::vector<const algorithm*> all;
  for (const algorithm& a : collectives::algorithms())
    if (a.name != "flat" && a.name != "spread" && !of_vectors(a.op)) all.push_back(&a);
  return all;
}

INSTANTIATE_TEST_SUITE_P(algorithms, handing_on, testing::ValuesIn(staged_algorithms()),
                         [](const auto& info) {
                           return std::string(name(info.param->op)) + "_" + std::string(info.param->name);
                         });

} // namespace
} // namespace weft::tests
