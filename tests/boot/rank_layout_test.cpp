// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/launcher/rank_layout.hpp"

#include <gtest/gtest.h>

namespace {

using weft::boot::rank_layout;

TEST(rank_layout, blocks_are_contiguous_and_as_even_as_possible) {
  for (std::uint32_t ranks = 1; ranks <= 20; ++ranks)
    for (std::uint32_t nodes = 1; nodes <= ranks; ++nodes) {
      const rank_layout layout(ranks, nodes, "host");
      std::uint32_t next = 0;
      for (std::uint32_t node = 0; node < nodes; ++node) {
        EXPECT_EQ(layout.first_rank(node), next);
        EXPECT_GE(layout.size_of(node), ranks / nodes);
        EXPECT_LE(layout.size_of(node), ranks / nodes + 1);
        for (std::uint32_t i = 0; i < layout.size_of(node); ++i)
          EXPECT_EQ(layout.node_of(next++), node);
      }
      EXPECT_EQ(next, ranks);
    }
}

TEST(rank_layout, one_node_bears_the_hosts_name) {
  const rank_layout layout(3, 1, "host");
  EXPECT_EQ(layout.node_map(), "host");
  EXPECT_EQ(layout.process_map(), "0,1,2");
}

TEST(rank_layout, virtual_nodes_have_names_of_their_own) {
  const rank_layout layout(5, 2, "host");
  EXPECT_EQ(layout.node_map(), "host-0,host-1");
  EXPECT_EQ(layout.process_map(), "0,1,2;3,4");
}

} // namespace
