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
  for (std::size_t block = 0; block < destination_blocks_; ++block, word += words()) {
    const std::uint64_t first = received(block, iteration);
    for (std::size_t i = 0; i < words(); ++i)
      if (word[i] != first + i) return false;
  }
  return true;
}

} // namespace perf
