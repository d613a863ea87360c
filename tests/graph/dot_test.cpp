// SPDX-License-Identifier: BSD-3-Clause
#include "engine/operations/all_kinds.hpp"
#include "engine/plan/builder.hpp"
#include "tests/graph/operations.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace weft::graph {
namespace {

bool says(const std::string& text, std::string_view line) {
  return text.find(line) != std::string::npos;
}

TEST(dot, shows_nodes_loops_and_edges) {
  builder b(2, 4, 0);
  plan& p = b.draft();
  p.pairs = pattern::all_pairs;
  b.blocks_of({.bytes = 64});
  p.in = sync::my;
  builder::step_list steps;
  steps.then(await_entry()).then(get_from_each());
  const node_set own = b.add(copy_own());
  const node_set first = b.loop(range::near, 3, steps, own);
  const node_set second = b.loop(range::far, 1, steps, first);
  b.add(await_count(fact::consumed, 4), own | second);
  const std::string dot = to_dot(b.finish());

  EXPECT_TRUE(says(dot, "digraph plan {")) << dot;
  EXPECT_TRUE(says(dot, "label=\"rank 2 of 4, all pairs, 64 bytes, IN_MY OUT_ALL\"")) << dot;
  EXPECT_TRUE(says(dot, "n0 [label=\"0: copy own block\"];")) << dot;
  EXPECT_TRUE(says(dot, "subgraph cluster_3 {\n    label=\"3: loop over near, 3 times\";")) << dot;
  EXPECT_TRUE(says(dot, "n1 [label=\"1: await entry from each\"];")) << dot;
  EXPECT_TRUE(says(dot, "n1 -> n2;")) << dot;
  EXPECT_TRUE(says(dot, "n0 -> n1 [lhead=cluster_3];")) << dot;
  EXPECT_TRUE(says(dot, "n2 -> n4 [ltail=cluster_3, lhead=cluster_6];")) << dot;
  EXPECT_TRUE(says(dot, "n5 -> n7 [ltail=cluster_6];")) << dot;
  EXPECT_TRUE(says(dot, "n0 -> n7;")) << dot;
  EXPECT_TRUE(says(dot, "n7 [label=\"7: await consumed 4\"];")) << dot;
}

TEST(dot, shows_rows_lanes_and_searches) {
  const auto shown = [](const collectives::request& r, const node_map& nodes) {
    return to_dot(compile_all(r, nodes)[1]);
  };
  using collectives::operation;
  const std::string rooted =
      shown({.op = operation::gather_x, .in = sync::my, .out = sync::my}, blocks_of(4, 2));
  EXPECT_TRUE(says(rooted, "rank 1 of 4, by source, bytes as the rows say, IN_MY OUT_MY")) << rooted;
  EXPECT_TRUE(says(rooted, ": signal row to group")) << rooted;
  EXPECT_TRUE(says(rooted, ": loop over named, 1 times")) << rooted;
  EXPECT_TRUE(says(rooted, ": await entry from each, if near")) << rooted;
  EXPECT_TRUE(says(rooted, ": signal asked to each, if far")) << rooted;
  EXPECT_TRUE(says(rooted, ": await row from each, if far")) << rooted;
  EXPECT_TRUE(says(rooted, ": loop over others, 3 times, until another root is found")) << rooted;
  EXPECT_TRUE(says(rooted, ": discover row of each")) << rooted;
  EXPECT_TRUE(says(rooted, ": await delivered what the rows say")) << rooted;
  const std::string swapped = shown({.op = operation::exchange_x, .in_place = true}, blocks_of(4, 2));
  EXPECT_TRUE(says(swapped, ": claim swap")) << swapped;
  EXPECT_TRUE(says(swapped, ": loop over initiated, 1 times")) << swapped;
  EXPECT_TRUE(says(swapped, ": fetch destination of block out of each, if far")) << swapped;
  EXPECT_TRUE(says(swapped, ": take aside from each")) << swapped;
  EXPECT_TRUE(says(swapped, ": restore from each")) << swapped;
  const std::string moved =
      shown({.op = operation::permute, .in = sync::my, .bytes = 64, .in_place = true}, blocks_of(4, 2));
  EXPECT_TRUE(says(moved, "64 bytes in place")) << moved;
  EXPECT_TRUE(says(moved, ": await named from each")) << moved;
}

TEST(dot, of_every_plan_is_balanced_and_names_every_node) {
  for_each_request(4, [](const collectives::request& r) {
    for (const plan& p : compile_all(r, blocks_of(4, 2))) {
      const std::string dot = to_dot(p);
      EXPECT_EQ(std::count(dot.begin(), dot.end(), '{'), std::count(dot.begin(), dot.end(), '}'));
      for (unsigned n = 0; n < p.size; ++n)
        EXPECT_TRUE(says(dot, "label=\"" + std::to_string(n) + ": ")) << dot;
      EXPECT_FALSE(says(dot, "?")) << dot;
    }
  });
}

} // namespace
} // namespace weft::graph
