// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace perf {

// What is measured. `bytes` of an operation is always the size of one block: what one rank sends to one
// other.
//
// Reductions add 64-bit words. team_reduce and team_allreduce do so element by element, a block on each rank;
// reduce_all adds all words of all blocks, to one on each rank; prefix_reduce makes a block of prefix sums on
// each.
enum class operation {
  barrier,
  broadcast,
  scatter,
  gather,
  gather_all,
  exchange,
  permute,
  team_reduce,
  team_allreduce,
  reduce_all,
  prefix_reduce
};

inline constexpr std::array operations{
    operation::barrier,        operation::broadcast,  operation::scatter,      operation::gather,
    operation::gather_all,     operation::exchange,   operation::permute,      operation::team_reduce,
    operation::team_allreduce, operation::reduce_all, operation::prefix_reduce};

std::string_view name_of(operation op);
std::optional<operation> operation_named(std::string_view name);

bool carries_data(operation op);
constexpr bool is_reduction(operation op) {
  return op >= operation::team_reduce;
}

// Blocks of the source and of the destination that lie on `rank`. Where there is a root, it is rank 0.
std::size_t source_blocks(operation op, int rank, int size);
std::size_t destination_blocks(operation op, int rank, int size);

// The permutation: every rank's block goes to the next rank.
constexpr int permuted_to(int rank, int size) {
  return (rank + 1) % size;
}
constexpr int permuted_from(int rank, int size) {
  return (rank + size - 1) % size;
}

} // namespace perf
