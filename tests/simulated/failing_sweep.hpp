// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/simulated/failing_program.hpp"

#include <cstdint>
#include <cstdio>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace weft::tests {

// What came of one.
struct failing_outcome {
  bool failed = false;       // there were so many requests
  bool of_operation = false; // it was one that an operation made
  int errors = 0;            // of all ranks
  std::uint32_t right_afterwards = 0;
};

// Every request of the program, one after the other.
template <class Play> void sweep_requests(std::uint32_t ranks, Play&& play) {
  for (std::uint64_t n = 1;; n = next_request(n)) {
    SCOPED_TRACE("request " + std::to_string(n));
    const failing_outcome came = play(n);
    EXPECT_EQ(came.right_afterwards, ranks);
    EXPECT_EQ(came.errors != 0, came.of_operation);
    if (came.failed) continue;
    std::printf("%llu requests\n", static_cast<unsigned long long>(n - 1));
    return;
  }
}

// The node of each rank.
using by_rank = std::vector<std::uint32_t>;
inline const auto failing_places =
    testing::Values(by_rank{0}, by_rank{0, 1, 2}, by_rank{0, 1, 1}, by_rank{0, 1, 1, 0});

} // namespace weft::tests
