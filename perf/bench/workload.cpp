// SPDX-License-Identifier: BSD-3-Clause
#include "perf/bench/workload.hpp"

#include <stdexcept>
#include <string>

namespace perf {
namespace {

std::uint64_t first_word(std::uint64_t sender, std::uint64_t block, std::uint64_t iteration) {
  return (iteration * 0x9e3779b97f4a7c15ULL) ^ (sender << 40) ^ (block << 20);
}

} // namespace

workload::workload(operation op, int rank, int size, std::size_t bytes)
    : op_(op), rank_(rank), size_(size), bytes_(bytes), source_blocks_(perf::source_blocks(op, rank, size)),
      destination_blocks_(perf::destination_blocks(op, rank, size)) {
  if (bytes % sizeof(std::uint64_t) != 0)
    throw std::invalid_argument("size " + std::to_string(bytes) + " is not a multiple of 8");
}

std::uint64_t workload::sent(std::size_t block, std::uint64_t iteration) const {
  return first_word(static_cast<std::uint64_t>(rank_), block, iteration);
}

std::uint64_t workload::sum_of_ranks(int ranks, std::uint64_t words, std::uint64_t iteration) const {
  std::uint64_t sum = 0;
  for (int rank = 0; rank < ranks; ++rank)
    sum += words * first_word(static_cast<std::uint64_t>(rank), 0, iteration) + words * (words - 1) / 2;
  return sum;
}

// The word at a place of a reduction's result.
std::uint64_t workload::reduced(std::uint64_t at, std::uint64_t iteration) const {
  if (op_ == operation::reduce_all) return sum_of_ranks(size_, words(), iteration);
  if (op_ != operation::prefix_reduce)
    return sum_of_ranks(size_, 1, iteration) + at * static_cast<std::uint64_t>(size_);
  return sum_of_ranks(rank_, words(), iteration) +
         (at + 1) * first_word(static_cast<std::uint64_t>(rank_), 0, iteration) + (at + 1) * at / 2;
}

bool workload::check_reduced(const std::uint64_t* word, std::uint64_t iteration, bool each) const {
  if (destination_blocks_ == 0) return true;
  const std::uint64_t count = op_ == operation::reduce_all ? 1 : words();
  if (each) {
    for (std::uint64_t k = 0; k < count; ++k)
      if (word[k] != reduced(k, iteration)) return false;
    return true;
  }
  std::uint64_t total = 0;
  for (std::uint64_t k = 0; k < count; ++k)
    total += word[k];
  if (op_ != operation::prefix_reduce)
    return total ==
           count * reduced(0, iteration) + static_cast<std::uint64_t>(size_) * (count * (count - 1) / 2);
  // Of prefix sums: what is in front, the first words, and 0 + 1 + ... again and again.
  const std::uint64_t first = first_word(static_cast<std::uint64_t>(rank_), 0, iteration);
  const auto pyramid = static_cast<unsigned __int128>(count) * (count - 1) * (count + 1) / 6;
  return total == count * sum_of_ranks(rank_, count, iteration) + first * (count * (count + 1) / 2) +
                      static_cast<std::uint64_t>(pyramid);
}

std::uint64_t workload::received(std::size_t block, std::uint64_t iteration) const {
  switch (op_) {
  case operation::exchange:
    return first_word(block, static_cast<std::uint64_t>(rank_), iteration);
  case operation::scatter:
    return first_word(0, static_cast<std::uint64_t>(rank_), iteration);
  case operation::gather:
  case operation::gather_all:
    return first_word(block, 0, iteration);
  case operation::permute:
    return first_word(static_cast<std::uint64_t>(permuted_from(rank_, size_)), 0, iteration);
  default:
    return first_word(0, 0, iteration);
  }
}

void workload::write_source(void* source, std::uint64_t iteration) const {
  auto* word = static_cast<std::uint64_t*>(source);
  for (std::size_t block = 0; block < source_blocks_; ++block, word += words()) {
    const std::uint64_t first = sent(block, iteration);
    for (std::size_t i = 0; i < words(); ++i)
      word[i] = first + i;
  }
}

bool workload::read_destination(const void* destination, std::uint64_t iteration) const {
  const auto* word = static_cast<const std::uint64_t*>(destination);
  if (is_reduction(op_)) return check_reduced(word, iteration, false);
  const std::uint64_t count = words();
  bool right = true;
  for (std::size_t block = 0; block < destination_blocks_; ++block, word += words()) {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < count; ++i)
      total += word[i];
    right &= total == count * received(block, iteration) + count * (count - 1) / 2;
  }
  return right;
}

bool workload::check_destination(const void* destination, std::uint64_t iteration) const {
  const auto* word = static_cast<const std::uint64_t*>(destination);
  if (is_reduction(op_)) return check_reduced(word, iteration, true);
  for (std::size_t block = 0; block < destination_blocks_; ++block, word += words()) {
    const std::uint64_t first = received(block, iteration);
    for (std::size_t i = 0; i < words(); ++i)
      if (word[i] != first + i) return false;
  }
  return true;
}

} // namespace perf
