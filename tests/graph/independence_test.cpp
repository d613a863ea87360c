// SPDX-License-Identifier: BSD-3-Clause
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
      const std::vector<plan> plans = compile_all(exchange_of(in, out), one_host(4));
      EXPECT_FALSE(plans[0].eager);
      for (std::uint32_t absent = 0; absent < 4; ++absent) {
        const verdict v = verify_independence(plans, one_host(4), {absent});
        EXPECT_TRUE(v.ok()) << v.text();
      }
    }
  }
}

// Without the right to write for an absent destination, its sources cannot leave.
TEST(independence, is_lost_without_the_claims_of_the_sources) {
  std::vector<plan> plans = compile_all(exchange_of(sync::my, sync::my), one_host(3));
  for (plan& p : plans) {
    for (unsigned n = 0; n < p.size; ++n) {
      if (p.nodes[n].what == kind::claim && p.nodes[n].way == direction::out) erase(p, n);
    }
  }
  EXPECT_TRUE(verify(plans, one_host(3)).ok()) << verify(plans, one_host(3)).text();
  const verdict v = verify_independence(plans, one_host(3), {1});
  EXPECT_EQ(v.findings.size(), 2u) << v.text(); // both others
  EXPECT_TRUE(v.has(fault::not_independent));
}

// With a root too: whoever is there carries, the root or the others.
TEST(independence, of_a_scatter_and_a_gather_rests_on_the_claims_of_both_ends) {
  for (const operation op : {operation::scatter, operation::gather}) {
    for (const direction way : {direction::in, direction::out}) {
      std::vector<plan> plans = compile_all({op, sync::my, sync::my, hint::none, 0, 65536}, one_host(3));
      for (plan& p : plans) {
        for (unsigned n = 0; n < p.size; ++n) {
          if (p.nodes[n].what == kind::claim && p.nodes[n].way == way) erase(p, n);
        }
      }
      EXPECT_TRUE(verify(plans, one_host(3)).ok()) << verify(plans, one_host(3)).text();
      const bool by_the_root = (op == operation::scatter) == (way == direction::in); // what is left
      const verdict v = verify_independence(plans, one_host(3), {by_the_root ? 0u : 1u});
      EXPECT_TRUE(v.has(fault::not_independent));
    }
  }
}

// An eager payload is published at post; one that waits for something is not.
TEST(independence, of_eager_plans_rests_on_the_publication_at_post) {
  std::vector<plan> plans = compile_all(exchange_of(sync::my, sync::my, 8), one_host(3));
  EXPECT_TRUE(plans[0].eager);
  EXPECT_TRUE(verify_independence(plans, one_host(3), {1}).ok());
  plan& p = plans[1];
  const unsigned publish = find(p, kind::signal, fact::payload), copy = find(p, kind::copy);
  ASSERT_LT(publish, copy);
  std::swap(p.nodes[publish], p.nodes[copy]);
  p.nodes[copy].after = node_set{1} << publish;
  EXPECT_TRUE(verify(plans, one_host(3)).ok()) << verify(plans, one_host(3)).text();
  EXPECT_TRUE(verify_independence(plans, one_host(3), {1}).has(fault::not_independent));
}

// Rows are read by whoever carries: so a member that computes need not read its own.
TEST(independence, of_named_and_indirect_blocks_on_one_node) {
  for (const operation op :
       {operation::permute, operation::permute_x, operation::scatter_x, operation::gather_x,
        operation::broadcast_x, operation::gather_all_x, operation::exchange_x}) {
    for (const sync in : {sync::no, sync::my, sync::all}) {
      for (const sync out : {sync::no, sync::my, sync::all}) {
        const request r{.op = op, .in = in, .out = out, .bytes = 65536};
        const std::vector<plan> plans = compile_all(r, one_host(4));
        for (const row_names& names : rows_for(r, 4)) {
          for (std::uint32_t absent = 0; absent < 4; ++absent) {
            const verdict v = verify_independence(plans, one_host(4), {absent}, specified(r, names));
            EXPECT_TRUE(v.ok()) << text(r, one_host(4)) << "\n" << v.text();
          }
        }
      }
    }
  }
}

TEST(independence, of_an_exchange_in_place_rests_on_either_end_of_a_pair) {
  const request r{
      .op = operation::exchange, .in = sync::my, .out = sync::my, .bytes = 65536, .in_place = true};
  std::vector<plan> plans = compile_all(r, one_host(3));
  for (std::uint32_t absent = 0; absent < 3; ++absent)
    EXPECT_TRUE(verify_independence(plans, one_host(3), {absent}, specified(r)).ok());
  for (const std::uint32_t idle : {0u, 1u})
    erase(plans[idle], find(plans[idle], kind::claim)); // no member has their pair
  EXPECT_TRUE(verify(plans, one_host(3), specified(r)).has(fault::never_written));
  plans[1] = compile_all(r, one_host(3))[1];
  EXPECT_TRUE(verify(plans, one_host(3), specified(r)).ok());
  EXPECT_TRUE(verify_independence(plans, one_host(3), {0}, specified(r)).ok());
  EXPECT_TRUE(verify_independence(plans, one_host(3), {1}, specified(r)).has(fault::not_independent));
}

// Who takes his block aside must be there to do it; a whole cycle on one node is rotated by whoever is there.
TEST(independence, of_a_permutation_in_place_is_that_of_whole_cycles) {
  for (const operation op : {operation::permute, operation::permute_x}) {
    for (const sync in : {sync::no, sync::my, sync::all}) {
      for (const sync out : {sync::no, sync::my, sync::all}) {
        const request r{.op = op, .in = in, .out = out, .bytes = 65536, .in_place = true};
        const auto independent = [&](const node_map& nodes, const row_names& names) {
          return verify_independence(compile_all(r, nodes), nodes, {2}, specified(r, names)).ok();
        };
        EXPECT_EQ(in != sync::my, independent(one_host(4), shifted(4))) << text(r, one_host(4));
        const row_names pairs{1, 0, 3, 2};
        EXPECT_EQ(in == sync::no && out != sync::all, independent(blocks_of(4, 2), pairs))
            << text(r, blocks_of(4, 2));
        EXPECT_FALSE(independent(blocks_of(4, 2), shifted(4))) << text(r, blocks_of(4, 2));
      }
    }
  }
}

TEST(independence, of_named_blocks_rests_on_the_claims_of_both_ends) {
  const auto without = [](const request& r, kind in_body_with, fact about, std::uint32_t absent,
                          const row_names& names) {
    std::vector<plan> plans = compile_all(r, one_host(3));
    for (plan& p : plans) {
      const unsigned mark = find(p, in_body_with, about);
      for (unsigned n = 0; n < p.size; ++n) {
        const node loop = p.nodes[n];
        if (loop.what != kind::loop || mark < loop.body || mark >= unsigned{loop.body} + loop.body_size)
          continue;
        for (unsigned s = loop.body; s < unsigned{loop.body} + loop.body_size; ++s) {
          if (p.nodes[s].what != kind::claim) continue;
          erase(p, s);
          break;
        }
        break;
      }
    }
    const movement moved = specified(r, names);
    EXPECT_TRUE(verify(plans, one_host(3), moved).ok()) << verify(plans, one_host(3), moved).text();
    EXPECT_TRUE(verify_independence(plans, one_host(3), {absent}, moved).has(fault::not_independent));
  };
  const request permute{.op = operation::permute, .in = sync::my, .out = sync::my, .bytes = 65536};
  without(permute, kind::await, fact::named, 1, shifted(3));
  for (const operation op : {operation::scatter_x, operation::gather_x})
    without({.op = op, .in = sync::my, .out = sync::my}, kind::discover, fact::none, 1, to_root(3, 0));
}

// What a member has goes to later ones only: none in front of an absent member waits for it.
TEST(independence, of_a_flat_scan_holds_for_all_in_front_of_the_absent) {
  const request r{.op = operation::team_scan, .in = sync::my, .out = sync::my, .bytes = 8};
  for (const node_map& nodes : {alone(2), blocks_of(6, 2), dealt(5, 2), one_host(4)}) {
    const std::vector<plan> plans = compile_all(r, nodes, forcing(r.op, "flat"));
    std::vector<std::uint32_t> absent;
    for (auto last = static_cast<std::uint32_t>(nodes.size()); last-- > 1;) {
      absent.push_back(last);
      const verdict v = verify_independence(plans, nodes, absent, specified(r));
      EXPECT_TRUE(v.ok()) << text(r, nodes) << "\n" << v.text();
    }
    EXPECT_TRUE(verify_independence(plans, nodes, {0}, specified(r)).has(fault::not_independent) ||
                nodes == one_host(4));
  }
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
