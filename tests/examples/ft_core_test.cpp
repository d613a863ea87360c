// SPDX-License-Identifier: BSD-3-Clause
// The core of FT without the library: one thread, and several threads of this process that transpose through
// plain memory. What is left to test with the library is only how the blocks travel.
//
// Mutations that these tests catch: another multiplier or seed, a wave number without its sign, a transform
// in the wrong direction, pack or unpack with the two shapes exchanged.
#include "examples/ft/ft_core.hpp"

#include <algorithm>
#include <barrier>
#include <gtest/gtest.h>
#include <limits>
#include <thread>

namespace {

// The blocks that the threads exchange, [destination][source].
class block_matrix {
public:
  explicit block_matrix(std::size_t threads)
      : threads_(threads), meet_(static_cast<std::ptrdiff_t>(threads)), blocks_(threads * threads) {}

  std::vector<ft::complex>& block(std::size_t to, std::size_t from) { return blocks_[to * threads_ + from]; }
  std::size_t threads() const { return threads_; }
  void meet() { meet_.arrive_and_wait(); }

private:
  std::size_t threads_;
  std::barrier<> meet_;
  std::vector<std::vector<ft::complex>> blocks_;
};

class plain_transposition final : public ft::transposition {
public:
  plain_transposition(block_matrix& blocks, std::size_t thread, std::size_t pieces)
      : blocks_(blocks), thread_(thread), pieces_(pieces) {}

  void run(const ft::slab_shape& from, const ft::complex* in, const ft::slab_shape& to, ft::complex* out,
           const preparation& prepare) override {
    const std::size_t pieces = std::min(pieces_, from.planes);
    for (std::size_t piece = 0; piece != pieces; ++piece) {
      const std::size_t first = piece * from.planes / pieces;
      const std::size_t last = (piece + 1) * from.planes / pieces;
      prepare(first, last);
      for (std::size_t t = 0; t != blocks_.threads(); ++t) {
        blocks_.block(t, thread_).resize((last - first) * to.planes * to.columns);
        ft::pack(from, in, first, last, to, t, blocks_.block(t, thread_).data());
      }
      blocks_.meet();
      for (std::size_t t = 0; t != blocks_.threads(); ++t)
        ft::unpack(from, t, first, last, to, out, blocks_.block(thread_, t).data());
      blocks_.meet();
    }
  }

private:
  block_matrix& blocks_;
  std::size_t thread_, pieces_;
};

std::vector<ft::complex> solve(const ft::problem& problem, std::size_t threads, std::size_t pieces,
                               ft::planning effort = ft::planning::estimate) {
  block_matrix blocks(threads);
  std::vector<std::unique_ptr<plain_transposition>> transpositions;
  std::vector<std::unique_ptr<ft::solver>> solvers;
  for (std::size_t t = 0; t != threads; ++t) {
    transpositions.push_back(std::make_unique<plain_transposition>(blocks, t, pieces));
    solvers.push_back(std::make_unique<ft::solver>(problem, t, threads, *transpositions[t], effort));
  }
  std::vector<std::vector<ft::complex>> parts(threads);
  std::vector<std::jthread> running;
  for (std::size_t t = 0; t != threads; ++t)
    running.emplace_back([&, t] {
      solvers[t]->start();
      for (int i = 0; i != ft::iterations; ++i)
        parts[t].push_back(solvers[t]->step());
    });
  running.clear();

  std::vector<ft::complex> sums(ft::iterations);
  for (const auto& part : parts)
    std::ranges::transform(sums, part, sums.begin(), std::plus<>());
  return sums;
}

void expect_official(const ft::problem& problem, const std::vector<ft::complex>& sums) {
  for (int i = 0; i != ft::iterations; ++i)
    EXPECT_TRUE(ft::verified(sums[i], problem.checksums[i]))
        << "class " << problem.name << ", iteration " << i + 1 << ": relative error "
        << ft::relative_error(sums[i], problem.checksums[i]);
}

TEST(ft_core, class_s_alone) {
  const auto& problem = ft::find_problem("S");
  expect_official(problem, solve(problem, 1, 1));
}

TEST(ft_core, class_s_with_measured_plans) {
  const auto& problem = ft::find_problem("S");
  expect_official(problem, solve(problem, 1, 1, ft::planning::measure));
}

TEST(ft_core, class_w_alone_has_three_different_extents) {
  const auto& problem = ft::find_problem("W");
  expect_official(problem, solve(problem, 1, 5));
}

TEST(ft_core, four_slabs_in_pieces_that_do_not_divide_them) {
  const auto& problem = ft::find_problem("W");
  expect_official(problem, solve(problem, 4, 3));
}

TEST(ft_core, random_numbers_can_be_entered_anywhere) {
  ft::random_sequence from_start;
  for (int i = 0; i != 1000; ++i)
    from_start.next();
  ft::random_sequence entered(1000);
  for (int i = 0; i != 10; ++i)
    EXPECT_EQ(entered.next(), from_start.next());
}

TEST(ft_problem, a_wrong_checksum_is_not_verified) {
  const ft::complex expected(500, 400);
  EXPECT_TRUE(ft::verified(expected, expected));
  EXPECT_FALSE(ft::verified({500 * (1 + 1e-11), 400}, expected));
  EXPECT_FALSE(ft::verified({500, 400 * (1 - 1e-11)}, expected));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(ft::verified({nan, 400}, expected));
  EXPECT_FALSE(ft::verified({500, nan}, expected));
}

TEST(ft_problem, thread_counts_divide_both_slab_dimensions) {
  EXPECT_EQ(ft::thread_counts(ft::find_problem("W")), (std::vector<std::size_t>{1, 2, 4, 8, 16, 32}));
}

TEST(ft_problem, an_unknown_class_is_refused) {
  EXPECT_THROW(ft::find_problem("B"), std::invalid_argument);
}

} // namespace
