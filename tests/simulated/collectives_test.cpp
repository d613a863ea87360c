// SPDX-License-Identifier: BSD-3-Clause
// Every collective on the simulated transport, by seeds. A seed fixes the program, the machine and the order
// of every operation.
#include "tests/simulated/seeds.hpp"
#include "tests/simulated/simulated_run.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <iostream>
#include <set>

namespace weft::tests {
namespace {

TEST(simulated_collectives, random_programs_give_what_the_serial_reference_gives) {
  const seed_range seeds(1000);
  std::uint64_t failed = 0;
  for (std::uint64_t seed = seeds.first; seed <= seeds.last && failed < 5; ++seed) {
    const std::string failure = failure_of_seed(seed);
    if (failure.empty()) continue;
    ++failed;
    ADD_FAILURE() << failure << "\nreplay with WEFT_SEED=" << seed;
  }
}

TEST(simulated_collectives, random_programs_use_every_algorithm) {
  std::set<const collectives::algorithm*> used;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const collective_case c = make_case(seed);
    for (const auto& round : c.rounds)
      for (const auto& call : round)
        used.insert(collectives::choose(call.request, graph::topology(0, c.nodes), tuning_of_seed(seed)));
  }
  used.erase(nullptr);
  const auto of_vectors = [](const collectives::algorithm& a) { return collectives::of_vectors(a.op); };
  const auto others = std::ranges::count_if(collectives::algorithms(), of_vectors);
  EXPECT_EQ(collectives::algorithms().size() - static_cast<std::size_t>(others), used.size());
}

TEST(simulated_collectives, a_seed_replays_to_the_last_operation) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const collective_case c = make_case(seed);
    EXPECT_EQ(run_simulated(c).trace, run_simulated(c).trace) << seed;
  }
}

} // namespace
} // namespace weft::tests
