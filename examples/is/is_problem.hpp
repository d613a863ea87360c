// SPDX-License-Identifier: BSD-3-Clause
// The problem classes of the NAS IS benchmark, its keys, and the ranks that its authors publish for some.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace is {

using key = std::uint32_t;

inline constexpr int iterations = 10;
inline constexpr int tests = 5; // keys whose ranks are known, in each iteration

struct problem {
  std::string_view name;
  std::size_t keys;
  key end; // keys are less
  std::array<std::size_t, tests> index;
  std::array<std::size_t, tests> rank;
  // What an iteration adds to the rank of a test key: those up to `rising` move up, the others down.
  int rising, offset;

  // In this iteration, counted from 1.
  std::size_t expected_rank(int test, int iteration) const;
};

std::span<const problem> problems();

// Throws std::invalid_argument for a name that is not in the table.
const problem& find_problem(std::string_view name);

// The keys [first, first + size of `into`) of the problem.
void make_keys(const problem& p, std::size_t first, std::span<key> into);

} // namespace is
