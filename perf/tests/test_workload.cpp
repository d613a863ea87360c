// SPDX-License-Identifier: BSD-3-Clause
#include "perf/bench/workload.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace {

using perf::operation;
using perf::workload;
using words = std::vector<std::uint64_t>;

constexpr int ranks = 4;
constexpr std::size_t block_words = 16;
constexpr std::size_t block_bytes = block_words * sizeof(std::uint64_t);

// What a correct library leaves on `receiver`.
words delivered(operation op, int receiver, std::uint64_t iteration) {
  words result(perf::destination_blocks(op, receiver, ranks) * block_words);
  for (std::size_t i = 0; i * block_words < result.size(); ++i) {
    const int from = op == operation::permute ? perf::permuted_from(receiver, ranks) : static_cast<int>(i);
    const workload sender(op, from, ranks, block_bytes);
    words source(sender.source_bytes() / sizeof(std::uint64_t));
    sender.write_source(source.data(), iteration);
    const bool distinct = op == operation::exchange || op == operation::scatter;
    const std::size_t block = distinct ? static_cast<std::size_t>(receiver) : 0;
    std::copy_n(source.data() + block * block_words, block_words, result.data() + i * block_words);
  }
  return result;
}

words source_of(operation op, int rank, std::uint64_t iteration) {
  const workload sender(op, rank, ranks, block_bytes);
  words source(sender.source_bytes() / sizeof(std::uint64_t));
  sender.write_source(source.data(), iteration);
  return source;
}

// The same of a reduction, whose result may be shorter than a block.
words reduced(operation op, int receiver, std::uint64_t iteration) {
  words result(perf::destination_blocks(op, receiver, ranks) * block_words);
  if (result.empty()) return result;
  if (op == operation::reduce_all) result.resize(1);
  std::uint64_t sum = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const words source = source_of(op, rank, iteration);
    for (std::size_t k = 0; k < block_words; ++k) {
      sum += source[k];
      if (op == operation::reduce_all)
        result[0] = sum;
      else if (op != operation::prefix_reduce)
        result[k] += source[k];
      else if (rank == receiver)
        result[k] = sum;
    }
  }
  return result;
}

words right_data(operation op, int receiver, std::uint64_t iteration) {
  return perf::is_reduction(op) ? reduced(op, receiver, iteration) : delivered(op, receiver, iteration);
}

// A rank that receives something.
int some_receiver(operation op) {
  return op == operation::gather || op == operation::team_reduce ? 0 : 1;
}

class every_operation : public testing::TestWithParam<operation> {};

TEST_P(every_operation, right_data_pass_on_every_rank) {
  for (int receiver = 0; receiver < ranks; ++receiver) {
    const words data = right_data(GetParam(), receiver, 5);
    const workload mine(GetParam(), receiver, ranks, block_bytes);
    EXPECT_TRUE(mine.read_destination(data.data(), 5));
    EXPECT_TRUE(mine.check_destination(data.data(), 5));
  }
}

TEST_P(every_operation, the_data_of_another_iteration_do_not_pass) {
  const int receiver = some_receiver(GetParam());
  const words data = right_data(GetParam(), receiver, 4);
  const workload mine(GetParam(), receiver, ranks, block_bytes);
  EXPECT_FALSE(mine.read_destination(data.data(), 5));
  EXPECT_FALSE(mine.check_destination(data.data(), 5));
}

TEST_P(every_operation, each_wrong_word_is_found) {
  const int receiver = some_receiver(GetParam());
  const workload mine(GetParam(), receiver, ranks, block_bytes);
  const words right = right_data(GetParam(), receiver, 5);
  EXPECT_FALSE(right.empty());
  for (std::size_t i = 0; i < right.size(); ++i) {
    words data = right;
    data[i] ^= 1;
    EXPECT_FALSE(mine.read_destination(data.data(), 5)) << i;
    EXPECT_FALSE(mine.check_destination(data.data(), 5)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(workload, every_operation,
                         testing::Values(operation::broadcast, operation::scatter, operation::gather,
                                         operation::gather_all, operation::exchange, operation::permute,
                                         operation::team_reduce, operation::team_allreduce,
                                         operation::reduce_all, operation::prefix_reduce),
                         [](const auto& info) { return std::string(perf::name_of(info.param)); });

TEST(workload, words_in_the_wrong_order_are_found_by_the_comparison) {
  const workload mine(operation::exchange, 1, ranks, block_bytes);
  words data = delivered(operation::exchange, 1, 5);
  std::swap(data[0], data[1]);
  EXPECT_TRUE(mine.read_destination(data.data(), 5));
  EXPECT_FALSE(mine.check_destination(data.data(), 5));
}

TEST(workload, blocks_in_the_wrong_place_are_found) {
  const workload mine(operation::gather_all, 1, ranks, block_bytes);
  words data = delivered(operation::gather_all, 1, 5);
  std::swap_ranges(data.begin(), data.begin() + block_words, data.begin() + block_words);
  EXPECT_FALSE(mine.read_destination(data.data(), 5));
}

TEST(workload, a_size_that_is_no_multiple_of_a_word_is_refused) {
  EXPECT_THROW(workload(operation::exchange, 0, ranks, 12), std::invalid_argument);
}

} // namespace
