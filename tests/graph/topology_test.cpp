// SPDX-License-Identifier: BSD-3-Clause
#include "engine/topology/topology.hpp"

#include <gtest/gtest.h>

#include <set>

namespace weft::graph {
namespace {

using list = std::vector<std::uint32_t>;

TEST(topology, one_member) {
  const topology g(0, {7});
  EXPECT_EQ(g.size(), 1u);
  EXPECT_TRUE(g.one_host());
  EXPECT_TRUE(g.near().empty());
  EXPECT_EQ(g.locals(), 1u);
  EXPECT_EQ(g.largest_host(), 1u);
}

TEST(topology, near_and_far_begin_behind_the_caller) {
  const topology g(3, {0, 1, 0, 0, 1, 0});
  EXPECT_EQ(g.near(), (list{5, 0, 2}));
  EXPECT_EQ(g.far(), (list{4, 1}));
  EXPECT_FALSE(g.one_host());
  EXPECT_TRUE(g.is_near(0));
  EXPECT_FALSE(g.is_near(4));
}

TEST(topology, positions_on_a_node_are_in_rank_order_and_known_of_all_nodes) {
  const topology g(3, {0, 1, 0, 0, 1, 0});
  EXPECT_EQ(g.locals(), 4u);
  for (std::uint32_t k = 0; k < g.locals(); ++k)
    EXPECT_EQ(g.local_index(g.local(k)), k);
  EXPECT_EQ(g.local(0), 0u);
  EXPECT_EQ(g.local(2), 3u);
  EXPECT_EQ(g.local_index(1), 0u);
  EXPECT_EQ(g.local_index(4), 1u);
}

TEST(topology, the_largest_node_is_the_same_for_all) {
  const list nodes{0, 1, 1, 1, 2, 0};
  for (std::uint32_t r = 0; r < nodes.size(); ++r)
    EXPECT_EQ(topology(r, nodes).largest_host(), 3u);
}

// Else all members would turn to the same one first.
TEST(topology, the_kth_peer_of_every_member_is_a_different_one) {
  const list nodes(8, 0);
  for (std::uint32_t k = 0; k < 7; ++k) {
    std::set<std::uint32_t> peers;
    for (std::uint32_t r = 0; r < 8; ++r)
      peers.insert(topology(r, nodes).near()[k]);
    EXPECT_EQ(peers.size(), 8u);
  }
}

} // namespace
} // namespace weft::graph
