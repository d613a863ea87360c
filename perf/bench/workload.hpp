// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "perf/bench/backend.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace perf {

// The data of a measurement. Every iteration has its own contents, a function of who sends, which block and
// which iteration, so that what arrives says where it comes from and stale data cannot pass.
class workload {
public:
  workload(operation op, int rank, int size, std::size_t bytes);

  // Writes the whole source of this rank for one iteration.
  void write_source(void* source, std::uint64_t iteration) const;
  // Reads the whole destination; true if each block's sum is the expected one.
  bool read_destination(const void* destination, std::uint64_t iteration) const;
  // Compares each word; slower, for the first and the last iteration.
  bool check_destination(const void* destination, std::uint64_t iteration) const;

  std::size_t source_bytes() const { return source_blocks_ * bytes_; }
  std::size_t destination_bytes() const { return destination_blocks_ * bytes_; }

private:
  // The word that starts the block which this rank sends as number `block`, and the one it receives there.
  std::uint64_t sent(std::size_t block, std::uint64_t iteration) const;
  std::uint64_t received(std::size_t block, std::uint64_t iteration) const;
  std::uint64_t sum_of_ranks(int ranks, std::uint64_t words, std::uint64_t iteration) const;
  std::uint64_t reduced(std::uint64_t at, std::uint64_t iteration) const;
  bool check_reduced(const std::uint64_t* word, std::uint64_t iteration, bool each) const;
  std::size_t words() const { return bytes_ / sizeof(std::uint64_t); }

  operation op_;
  int rank_;
  int size_;
  std::size_t bytes_;
  std::size_t source_blocks_;
  std::size_t destination_blocks_;
};

} // namespace perf
