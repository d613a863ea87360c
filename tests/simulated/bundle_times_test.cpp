// SPDX-License-Identifier: BSD-3-Clause
// What moves in bundles costs on the virtual clock: when all ranks come together, and for blocks of several
// sizes.
#include "engine/collectives/algorithm.hpp"
#include "tests/simulated/one_operation.hpp"

#include <cstdio>
#include <gtest/gtest.h>

namespace weft::tests {
namespace {
using collectives::operation;
using collectives::request;
using graph::sync;

TEST(bundle_times, of_ranks_that_come_together_take_about_as_long_as_behind_in_all) {
  for (const std::uint32_t hosts : {4u, 16u}) {
    std::vector<std::uint32_t> nodes;
    for (std::uint32_t rank = 0; rank < hosts * 16; ++rank)
      nodes.push_back(rank / 16);
    const graph::topology g(0, nodes);
    for (const operation op : {operation::exchange, operation::gather_all}) {
      collectives::tuning t = tuning_for({});
      t.bundles = true;
      const request all{op, sync::all, sync::my, graph::hint::none, 0, 8},
          my{op, sync::my, sync::my, graph::hint::none, 0, 8};
      const collectives::algorithm& best = *choose(all, g, t);
      EXPECT_EQ(choose(my, g, t)->name, "bundled");
      const double bundled = elapsed_by(way(op, "bundled"), my, nodes),
                   behind_all = elapsed_by(best, all, nodes);
      std::printf("%s, %u hosts of 16: bundled %8.1f us (predicted %8.1f), %s under IN_ALL %8.1f us\n",
                  std::string(name(op)).c_str(), hosts, bundled / 1e3,
                  static_cast<double>(way(op, "bundled").cost(my, g, t)) / 1e3,
                  std::string(best.name).c_str(), behind_all / 1e3);
      EXPECT_LE(bundled, 1.5 * behind_all);
    }
  }
}

// Of longer blocks as well.
TEST(bundle_times, take_the_predicted_time_whatever_their_blocks) {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t rank = 0; rank < 256; ++rank)
    nodes.push_back(rank / 16);
  const graph::topology g(0, nodes);
  collectives::tuning t = tuning_for({});
  t.bundles = true;
  for (const auto& [op, bytes] : {std::pair(operation::exchange, 64), {operation::gather_all, 512}}) {
    const request r{.op = op, .in = sync::my, .out = sync::my, .bytes = static_cast<std::uint64_t>(bytes)};
    EXPECT_EQ(choose(r, g, t)->name, "bundled") << bytes;
    const double predicted = static_cast<double>(way(op, "bundled").cost(r, g, t)),
                 elapsed = elapsed_by(way(op, "bundled"), r, nodes);
    std::printf("%s of %d bytes, 16 hosts of 16: predicted %8.1f us, on the clock %8.1f us\n",
                std::string(name(op)).c_str(), bytes, predicted / 1e3, elapsed / 1e3);
    EXPECT_LT(elapsed, 1.5 * predicted);
    EXPECT_GT(elapsed, predicted / 1.5);
  }
}

} // namespace
} // namespace weft::tests
