// Every collective on the simulated transport, by seeds. A seed fixes the program, the machine and the order
// of every operation. WEFT_SEED=n plays one seed alone, WEFT_SEEDS=n as many from 1.
#include "tests/simulated/simulated_run.hpp"

#include <cstdlib>
#include <gtest/gtest.h>
#include <iostream>
#include <set>

namespace weft::tests {
namespace {

std::uint64_t number_from(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

TEST(simulated_collectives, random_programs_give_what_the_serial_reference_gives) {
  const std::uint64_t one = number_from("WEFT_SEED", 0);
  const std::uint64_t first = one != 0 ? one : 1;
  const std::uint64_t last = one != 0 ? one : number_from("WEFT_SEEDS", 1000);
  std::uint64_t failed = 0;
  for (std::uint64_t seed = first; seed <= last && failed < 5; ++seed) {
    const std::string failure = failure_of_seed(seed);
    if (failure.empty()) continue;
    ++failed;
    ADD_FAILURE() << failure << "\nreplay with WEFT_SEED=" << seed;
  }
}

TEST(simulated_collectives, random_programs_use_every_algorithm) {
  std::set<const collectives::algorithm*> used;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const collective_case c = make_case(seed);
    for (const auto& round : c.rounds)
      for (const auto& call : round)
        used.insert(collectives::choose(call.request, graph::geometry(0, c.nodes), tuning_of_seed(seed)));
  }
  used.erase(nullptr);
  EXPECT_EQ(collectives::algorithms().size(), used.size());
}

TEST(simulated_collectives, a_seed_replays_to_the_last_operation) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const collective_case c = make_case(seed);
    EXPECT_EQ(run_simulated(c).trace, run_simulated(c).trace) << seed;
  }
}

} // namespace
} // namespace weft::tests
