// Who waits for a member that posted and went away to compute.
#include "tests/graph/operations.hpp"

#include <gtest/gtest.h>

namespace weft::graph {
namespace {
using namespace collectives;

request exchange_of(sync in, sync out, std::uint64_t bytes = 65536) {
  return {operation::exchange, in, out, hint::pull, 0, bytes};
}

TEST(independence, on_one_node_nobody_waits_in_any_mode) {
  for (const sync in : {sync::no, sync::my, sync::all}) {
    for (const sync out : {sync::no, sync::my, sync::all}) {
      const std::vector<plan> plans = compile_all(exchange_of(in, out), one_node(4));
      EXPECT_FALSE(plans[0].eager);
      for (std::uint32_t absent = 0; absent < 4; ++absent) {
        const verdict v = verify_independence(plans, one_node(4), {absent});
        EXPECT_TRUE(v.ok()) << v.text();
      }
    }
  }
}

// Without the right to write for an absent destination, its sources cannot leave.
TEST(independence, is_lost_without_the_claims_of_the_sources) {
  std::vector<plan> plans = compile_all(exchange_of(sync::my, sync::my), one_node(3));
  for (plan& p : plans) {
    for (unsigned n = 0; n < p.size; ++n) {
      if (p.nodes[n].what == kind::claim && p.nodes[n].way == direction::out) erase(p, n);
    }
  }
  EXPECT_TRUE(verify(plans, one_node(3)).ok()) << verify(plans, one_node(3)).text();
  const verdict v = verify_independence(plans, one_node(3), {1});
  EXPECT_EQ(v.findings.size(), 2u) << v.text(); // both others
  EXPECT_TRUE(v.has(fault::not_independent));
}

// With a root too: whoever is there carries, the root or the others.
TEST(independence, of_a_scatter_and_a_gather_rests_on_the_claims_of_both_ends) {
  for (const operation op : {operation::scatter, operation::gather}) {
    for (const direction way : {direction::in, direction::out}) {
      std::vector<plan> plans = compile_all({op, sync::my, sync::my, hint::none, 0, 65536}, one_node(3));
      for (plan& p : plans) {
        for (unsigned n = 0; n < p.size; ++n) {
          if (p.nodes[n].what == kind::claim && p.nodes[n].way == way) erase(p, n);
        }
      }
      EXPECT_TRUE(verify(plans, one_node(3)).ok()) << verify(plans, one_node(3)).text();
      const bool by_the_root = (op == operation::scatter) == (way == direction::in); // what is left
      const verdict v = verify_independence(plans, one_node(3), {by_the_root ? 0u : 1u});
      EXPECT_TRUE(v.has(fault::not_independent));
    }
  }
}

// An eager payload is published at post; one that waits for something is not.
TEST(independence, of_eager_plans_rests_on_the_publication_at_post) {
  std::vector<plan> plans = compile_all(exchange_of(sync::my, sync::my, 8), one_node(3));
  EXPECT_TRUE(plans[0].eager);
  EXPECT_TRUE(verify_independence(plans, one_node(3), {1}).ok());
  plan& p = plans[1];
  const unsigned publish = find(p, kind::signal, fact::payload), copy = find(p, kind::copy);
  ASSERT_LT(publish, copy);
  std::swap(p.nodes[publish], p.nodes[copy]);
  p.nodes[copy].after = node_set{1} << publish;
  EXPECT_TRUE(verify(plans, one_node(3)).ok()) << verify(plans, one_node(3)).text();
  EXPECT_TRUE(verify_independence(plans, one_node(3), {1}).has(fault::not_independent));
}

TEST(independence, between_nodes_somebody_waits) {
  const std::vector<plan> plans = compile_all(exchange_of(sync::my, sync::my), alone(3));
  const verdict v = verify_independence(plans, alone(3), {2});
  EXPECT_TRUE(v.has(fault::not_independent));
}

TEST(independence, no_no_by_pull_waits_for_nobody_anywhere) {
  const std::vector<plan> plans = compile_all(exchange_of(sync::no, sync::no), alone(3));
  EXPECT_TRUE(verify_independence(plans, alone(3), {0, 1}).ok());
}

} // namespace
} // namespace weft::graph
