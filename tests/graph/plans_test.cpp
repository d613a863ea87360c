// SPDX-License-Identifier: BSD-3-Clause
// Every plan that the project compiles, checked.
#include "engine/collectives/vector_plan.hpp"
#include "engine/format.hpp"
#include "tests/graph/operations.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace weft::graph {
namespace {
using namespace collectives;

std::string rows(const movement& moved) {
  return moved.names.empty() ? "" : ", rows " + engine::joined(moved.names, " ");
}

void expect_correct(const request& r, const movement& moved, const node_map& nodes) {
  const verdict v = verify(compile_all(r, nodes), nodes, moved);
  EXPECT_TRUE(v.ok()) << text(r, nodes) << rows(moved) << "\n" << v.text();
}

// Under IN_MY a block that is permuted in place is moved by its two ends in turn. Under IN_ALL no member
// computes before all have entered, and each computes for itself; none computes the range of another. The
// root of a reduce of vectors brings them, to the verifier.
bool done_by_others_too(const request& r) {
  if (of_vectors(r.op) && r.op != operation::team_allreduce) return false; // each brings what it needs
  if (r.op == operation::sort) return false;                               // each sorts its own elements
  if (computes(r.op)) return r.in != sync::all && r.out != sync::all && !r.by_ranges;
  return !(r.in_place && permutes(r.op) && r.in == sync::my);
}

// On one node no member may wait for one that posted and computes.
void expect_independent(const request& r, const movement& moved, const node_map& nodes) {
  const auto members = static_cast<std::uint32_t>(nodes.size());
  std::vector<std::uint32_t> all_but_last(members - 1);
  std::iota(all_but_last.begin(), all_but_last.end(), 0u);
  const std::vector<plan> plans = compile_all(r, nodes);
  for (const auto& absent : {std::vector<std::uint32_t>{0}, {members - 1}, {r.root}, all_but_last}) {
    const verdict v = verify_independence(plans, nodes, absent, moved);
    EXPECT_TRUE(v.ok()) << text(r, nodes) << rows(moved) << "\n" << v.text();
  }
}

// Nor, on any hosts, behind what that member is rung for.
void expect_no_hold_up(const request& r, const movement& moved, const node_map& nodes) {
  const auto members = static_cast<std::uint32_t>(nodes.size());
  const std::vector<plan> plans = compile_all(r, nodes);
  std::vector<std::uint32_t> all_but_last(members - 1);
  std::iota(all_but_last.begin(), all_but_last.end(), 0u);
  for (const auto& absent : {std::vector<std::uint32_t>{r.root}, all_but_last}) {
    const verdict v = verify_rung(plans, nodes, absent, moved);
    EXPECT_TRUE(v.ok()) << text(r, nodes) << rows(moved) << "\n" << v.text();
  }
}

// Each member says in its row where its operands lie.
TEST(plans, of_places_in_rows) {
  for (const operation op : {operation::broadcast, operation::scatter, operation::gather,
                             operation::gather_all, operation::exchange})
    for (const sync in : {sync::no, sync::my, sync::all})
      for (const sync out : {sync::no, sync::my, sync::all})
        for (const node_map& nodes : {one_host(1), one_host(4), blocks_of(4, 2), alone(3)})
          for (const std::uint32_t root :
               {0u, rooted(op) ? static_cast<std::uint32_t>(nodes.size()) - 1 : 0u}) {
            const request r{
                .op = op, .in = in, .out = out, .root = root, .bytes = 65536, .apart = true, .whole = true};
            expect_correct(r, specified(r), nodes);
            for (const plan& p : compile_all(r, nodes))
              EXPECT_TRUE(p.by_rows && !p.eager);
            if (nodes == one_host(4)) expect_independent(r, specified(r), nodes);
          }
}

class every_plan : public testing::TestWithParam<std::uint32_t> {};

TEST_P(every_plan, is_correct) {
  const std::uint32_t members = GetParam();
  for (const node_map& nodes :
       {one_host(members), alone(members), blocks_of(members, 2), blocks_of(members, 3), dealt(members, 2)}) {
    for_each_case(members, [&](const request& r, const movement& moved) {
      if (!HasFailure()) expect_correct(r, moved, nodes);
    });
  }
}

TEST_P(every_plan, of_one_node_is_independent) {
  const std::uint32_t members = GetParam();
  for_each_case(members, [&](const request& r, const movement& moved) {
    if (!HasFailure() && done_by_others_too(r)) expect_independent(r, moved, one_host(members));
  });
}

// Dense where sizes are odd and small, then the powers of two and their neighbours.
TEST_P(every_plan, holds_up_no_rank_behind_a_member_that_is_rung) {
  const std::uint32_t members = GetParam();
  for (const node_map& nodes :
       {one_host(members), alone(members), blocks_of(members, 2), dealt(members, 2)}) {
    for_each_case(members, [&](const request& r, const movement& moved) {
      if (!HasFailure()) expect_no_hold_up(r, moved, nodes);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(members, every_plan,
                         testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 16, 17, 24, 33),
                         testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(long_members, every_plan, testing::Range(1u, 65u),
                         testing::PrintToStringParamName());

TEST(plans, a_plan_is_as_large_for_64_members_as_for_4) {
  for_each_request(64, [](const request& r) {
    for (const bool near : {false, true}) {
      request small = r;
      small.root = r.root == 0 ? 0 : 3;
      // Another algorithm: of so few vectors.
      const node_map few_nodes = near ? one_host(4) : alone(4), many_nodes = near ? one_host(64) : alone(64);
      const topology few_places(0, few_nodes), many_places(0, many_nodes);
      if (choose(small, few_places, flat()) != choose(r, many_places, flat())) continue;
      if (is_for_root(small, few_places) != is_for_root(r, many_places)) continue;
      if (combine_together(small, few_places) != combine_together(r, many_places)) continue;
      const auto few = compile_all(small, few_nodes, flat());
      const auto many = compile_all(r, many_nodes, flat());
      EXPECT_EQ(few[0].size, many[0].size) << text(r, {});
      EXPECT_EQ(few[3].size, many[63].size) << text(r, {});
    }
  });
}

} // namespace
} // namespace weft::graph
