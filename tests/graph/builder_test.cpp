// SPDX-License-Identifier: BSD-3-Clause
#include "engine/plan/builder.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace weft::graph {
namespace {

builder::step_list one_get() {
  builder::step_list steps;
  return steps.then(get_from_each());
}

TEST(builder, edges_are_unions_of_what_add_returned) {
  builder b(1, 4, 2);
  const node_set first = b.add(copy_own());
  const node_set loop = b.loop(range::near, 3, one_get(), first);
  const node_set last = b.add(await_count(fact::delivered, 3), first | loop);
  const plan p = b.finish();
  EXPECT_EQ(p.me, 1u);
  EXPECT_EQ(p.members, 4u);
  EXPECT_EQ(p.root, 2u);
  EXPECT_EQ(p.size, 4u);
  EXPECT_EQ(p.top, first | loop | last);
  EXPECT_EQ(p.nodes[2].after, first);
  EXPECT_EQ(p.nodes[3].after, first | loop);
}

TEST(builder, a_loop_holds_its_body_beside_the_top_nodes) {
  builder b(0, 4, 0);
  builder::step_list steps;
  steps.then(await_entry()).then_if(false, get_from_each()).then_if(true, put_to_each());
  const node_set loop = b.loop(range::far, 2, steps, 0, true);
  const plan p = b.finish();
  EXPECT_EQ(loop, node_set{1} << 2);
  EXPECT_EQ(p.top, loop);
  EXPECT_EQ(p.nodes[2].what, kind::loop);
  EXPECT_EQ(p.nodes[2].body, 0u);
  EXPECT_EQ(p.nodes[2].body_size, 2u);
  EXPECT_EQ(p.nodes[2].count, 2u);
  EXPECT_TRUE(p.nodes[2].ordered);
  EXPECT_EQ(p.nodes[1].what, kind::put);
}

TEST(builder, a_loop_over_nobody_adds_nothing) {
  builder b(0, 1, 0);
  EXPECT_EQ(b.loop(range::near, 0, one_get()), 0u);
  EXPECT_EQ(b.loop(range::near, 3, {}), 0u);
  EXPECT_EQ(b.finish().size, 0u);
  EXPECT_EQ(b.finish().loops, 0u);
}

TEST(builder, refuses_a_65th_node) {
  builder b(0, 2, 0);
  for (unsigned n = 0; n < max_nodes; ++n)
    b.add(copy_own());
  EXPECT_EQ(b.finish().top, ~node_set{0});
  EXPECT_THROW(b.add(copy_own()), std::logic_error);
}

TEST(builder, refuses_a_seventh_loop) {
  builder b(0, 2, 0);
  for (unsigned n = 0; n < max_loops; ++n)
    b.loop(range::near, 1, one_get());
  EXPECT_THROW(b.loop(range::near, 1, one_get()), std::logic_error);
}

TEST(builder, refuses_more_steps_than_a_body_holds) {
  builder::step_list steps;
  for (std::size_t n = 0; n < steps.steps.size(); ++n)
    steps.then(get_from_each());
  EXPECT_THROW(steps.then(get_from_each()), std::out_of_range);
}

TEST(builder, a_plan_knows_its_pairs_and_when_a_destination_is_full) {
  plan p;
  p.members = 4;
  p.root = 2;
  p.chunks = 3;
  EXPECT_FALSE(p.sends(2, 1));
  EXPECT_EQ(p.full(1), 0u);
  p.pairs = pattern::all_pairs;
  EXPECT_TRUE(p.sends(0, 1));
  EXPECT_EQ(p.full(1), 12u);
  p.pairs = pattern::from_root;
  EXPECT_TRUE(p.sends(2, 1));
  EXPECT_FALSE(p.sends(1, 2));
  EXPECT_EQ(p.full(1), 3u);
  p.pairs = pattern::to_root;
  EXPECT_TRUE(p.sends(1, 2));
  EXPECT_FALSE(p.sends(2, 1));
  EXPECT_EQ(p.full(2), 12u);
  EXPECT_EQ(p.full(1), 0u);
}

} // namespace
} // namespace weft::graph
