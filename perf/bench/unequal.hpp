// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "perf/bench/backend.hpp"
#include "tools/options/skewed_sizes.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace perf {

// An exchange of blocks of unequal sizes, as one rank has it: bytes and places, by rank. `there` is where its
// block lies in the destination of that rank, which a program that puts its blocks itself must know.
struct unequal_blocks {
  unequal_blocks(const weft::skewed_sizes& sizes, int rank, buffer to, buffer from);

  buffer destination, source;
  std::vector<std::size_t> given, taken;
  std::vector<std::ptrdiff_t> given_at, taken_at, there;
};

// What moves the blocks: one call of the library; or the program, with one rank in each round, or with all at
// once.
enum class way { collective, pairwise, linear };

// The data of such an exchange, each byte a function of sender, receiver, place and iteration.
class unequal_workload {
public:
  unequal_workload(const unequal_blocks& blocks, int rank) : blocks_(blocks), rank_(rank) {}

  void write_source(std::uint64_t iteration) const;
  // Compares each byte.
  bool check_destination(std::uint64_t iteration) const;

private:
  const unequal_blocks& blocks_;
  int rank_;
};

} // namespace perf
