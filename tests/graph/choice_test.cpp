// SPDX-License-Identifier: BSD-3-Clause
// How one of the algorithms is chosen: by the model's costs, alike on all members, and as the user wishes.
#include "engine/collectives/cost.hpp"
#include "engine/collectives/tuning.hpp"
#include "engine/plan/names.hpp"
#include "tests/graph/operations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>

namespace weft::graph {
namespace {
using namespace collectives;

// What it costs where there are many, by the model's own numbers.
TEST(algorithms, a_small_exchange_between_many_hosts_has_few_messages) {
  const auto predicted = [](std::uint32_t members, std::uint32_t each) {
    const request r{operation::exchange, sync::all, sync::my, hint::none, 0, 8};
    const topology g(0, blocks_of(members, each));
    const tuning t;
    const algorithm& a = *choose(r, g, t);
    return std::pair(a.name, a.cost(r, g, t) / 1000);
  };
  EXPECT_EQ(predicted(1024, 32).first, "paired");
  EXPECT_LE(predicted(1024, 32).second, 1000u);
  EXPECT_EQ(predicted(1024, 1).first, "bruck");
  EXPECT_LE(predicted(1024, 1).second, 200u);
  EXPECT_EQ(predicted(65536, 64).first, "paired");
  EXPECT_LE(predicted(65536, 64).second, 30000u);
}

// What the model says of 8 bytes from 2 to 131,072 ranks. The first step out of a host costs messages, which
// one of hosts does not.
TEST(algorithms, small_reductions_grow_like_the_logarithm_of_the_ranks) {
  const tuning t;
  const std::uint64_t hop = 2 * cost_model(t.costs).message();
  const auto grows = [&](const request& r, std::uint32_t each, bool dealt_out) {
    std::uint64_t before = 0;
    for (std::uint32_t ranks = 2; ranks <= 131072; ranks *= 2) {
      const std::uint32_t hosts = std::max(1u, ranks / each);
      const topology g(0, dealt_out ? dealt(ranks, hosts) : blocks_of(ranks, each));
      const std::uint64_t now = choose(r, g, t)->cost(r, g, t);
      EXPECT_LE(now, before * 22 / 10 + (hosts <= 2 ? hop : 0))
          << name(r.op) << " of " << ranks << " ranks, " << each << " on a host";
      before = now;
    }
    return before;
  };
  for (const std::uint32_t each : {16u, 32u, 64u}) {
    for (const operation op : {operation::reduce, operation::reduce_all, operation::prefix_reduce}) {
      for (const sync in : {sync::no, sync::my, sync::all}) {
        if (op == operation::reduce && in != sync::all)
          continue; // a member that waits for no other is read by the root
        for (const sync out : {sync::no, sync::my, sync::all})
          grows({.op = op, .in = in, .out = out, .bytes = 8}, each, false);
      }
      grows({.op = op, .bytes = 8}, each, true);
    }
    for (const operation op :
         {operation::team_allreduce, operation::team_scan, operation::team_reduce_scatter})
      grows({.op = op, .in = sync::my, .out = sync::my, .bytes = 8}, each, false);
  }
}

// The bytes that come from other hosts grow like the ranks, from two hosts to four three times, and so may
// these. Where the first of them come, and among many hosts, they take about as long as behind IN_ALL.
TEST(algorithms, small_exchanges_that_wait_for_their_ends_alone_grow_like_their_bytes) {
  tuning t;
  t.bundles = true;
  for (const operation op : {operation::exchange, operation::gather_all})
    for (const std::uint32_t each : {16u, 32u, 64u})
      for (const sync out : {sync::no, sync::my, sync::all}) {
        const request my{.op = op, .in = sync::my, .out = out, .bytes = 8};
        request all = my;
        all.in = sync::all;
        std::uint64_t before = 0;
        for (std::uint32_t ranks = 2; ranks <= 131072; ranks *= 2) {
          const topology g(0, blocks_of(ranks, each));
          const std::uint64_t now = choose(my, g, t)->cost(my, g, t);
          const bool first = g.hosts() == 2;
          EXPECT_TRUE(first || before == 0 || now <= before * (g.hosts() == 4 ? 30 : 22) / 10)
              << name(op) << " of " << ranks << " ranks, " << each << " on a host: " << now << " ns";
          before = now;
          // Among more hosts than these they tell each other what they know, behind IN_ALL.
          if (!first && (ranks != 1024 || g.hosts() > 32)) continue;
          const std::uint64_t woken = first ? 20'000 : 0; // a rank that holds the blocks of others
          EXPECT_LE(now, choose(all, g, t)->cost(all, g, t) * 3 / 2 + woken) << name(op) << " of " << ranks;
        }
      }
}

// All of them that the model can tell of, in all modes. What a member brings of all others grows like the
// bytes that come to a host: from two hosts to four three times. So do the blocks that each other member
// fetches from a root that hears of no reader. The first step out of a host costs messages.
TEST(algorithms, no_small_operation_grows_faster_than_its_bytes) {
  tuning t;
  t.bundles = true;
  constexpr std::array modes{sync::no, sync::my, sync::all};
  std::vector<request> all;
  for (const operation op : moving)
    for (const sync in : modes)
      for (const sync out : modes)
        if (!of_vectors(op) || (in == sync::my && out == sync::my))
          all.push_back({.op = op, .in = in, .out = out, .bytes = 8});
  all.push_back({.op = operation::team_alltoallv,
                 .in = sync::my,
                 .out = sync::my,
                 .bytes = 8,
                 .by = caller::allgatherv});
  std::erase_if(all, [&](const request& r) { return !predicted_time(r, topology(0, blocks_of(4, 2)), t); });
  EXPECT_GE(all.size(), 9u * 9u);
  for (const std::uint32_t each : {16u, 32u, 64u}) {
    std::vector<std::uint64_t> before(all.size());
    for (std::uint32_t ranks = 2; ranks <= 131072; ranks *= 2) {
      const topology g(0, blocks_of(ranks, each));
      for (std::size_t k = 0; k < all.size(); ++k) {
        const request& r = all[k];
        const std::uint64_t now = *predicted_time(r, g, t);
        const bool first = before[k] == 0 || g.hosts() == 2;
        const bool to_all =
            r.op == operation::exchange || r.op == operation::gather_all || r.op == operation::team_alltoallv;
        const bool fetched = (r.op == operation::broadcast || r.op == operation::scatter) &&
                             r.in == sync::no && r.out == sync::no;
        const std::uint64_t few = g.one_host() ? 100 : 0; // ns
        EXPECT_TRUE(first || now <= before[k] * ((to_all || fetched) && g.hosts() == 4 ? 30 : 22) / 10 + few)
            << name(r.op) << " IN_" << graph::name(r.in) << " OUT_" << graph::name(r.out) << " of " << ranks
            << " ranks, " << each << " on a host: " << before[k] << " ns, then " << now << " ns";
        before[k] = now;
      }
    }
  }
}

TEST(algorithms, small_reductions_among_many_hosts_take_microseconds) {
  const auto predicted = [](operation op, std::uint32_t ranks, std::uint32_t each) {
    const request r{.op = op, .in = sync::my, .out = sync::my, .bytes = 8};
    const topology g(0, blocks_of(ranks, each));
    return choose(r, g, tuning{})->cost(r, g, tuning{}) / 1000;
  };
  for (const operation op : {operation::reduce_all, operation::prefix_reduce, operation::team_allreduce}) {
    EXPECT_LE(predicted(op, 1024, 32), 60u) << name(op);
    EXPECT_LE(predicted(op, 65536, 64), 150u) << name(op);
  }
}

TEST(algorithms, all_members_choose_alike) {
  for (const algorithm& a : algorithms()) {
    for (const node_map& nodes :
         {alone(9), blocks_of(9, 2), dealt(9, 4), node_map{5, 5, 5, 1, 2, 2, 9, 1, 0}}) {
      for (std::uint64_t bytes = 1; bytes < 10'000'000; bytes *= 3) {
        const request r{a.op, sync::all, sync::my, hint::none, rooted(a.op) ? 4u : 0u, bytes};
        std::set<const algorithm*> chosen;
        for (std::uint32_t me = 0; me < nodes.size(); ++me)
          chosen.insert(choose(r, topology(me, nodes), tuning{}));
        EXPECT_EQ(chosen.size(), 1u) << text(r, nodes);
        EXPECT_FALSE(chosen.contains(nullptr));
      }
    }
  }
}

TEST(algorithms, a_wish_is_granted_where_it_fits_and_cost_decides_elsewhere) {
  const request all{operation::broadcast, sync::all, sync::my, hint::none, 0, 8};
  request loose = all;
  loose.in = sync::my;
  const topology g(0, alone(16));
  EXPECT_EQ(choose(all, g, forcing(all.op, "chain"))->name, "chain");
  EXPECT_EQ(choose(all, g, tuning{})->name, "knomial");
  EXPECT_EQ(choose(loose, g, forcing(all.op, "chain"))->name, "relayed");
  loose.bytes = 65536;
  EXPECT_EQ(choose(loose, g, forcing(all.op, "chain"))->name, "flat");
}

// The more bytes the fewer hops matter, and the more that what has come is copied while the rest is coming.
TEST(algorithms, blocks_gathered_from_several_nodes_of_several_members_are_handed_on_by_size) {
  const topology g(0, blocks_of(32, 4));
  const auto chosen = [&](std::uint64_t bytes) {
    return choose({operation::gather_all, sync::all, sync::my, hint::none, 0, bytes}, g, tuning{})->name;
  };
  EXPECT_EQ(chosen(8), "bruck");
  EXPECT_EQ(chosen(1024), "bruck");
  EXPECT_EQ(chosen(16384), "doubling");
  EXPECT_EQ(chosen(4 << 20), "ring");
}

// A tree has few hops, a chain few bytes, and what is scattered first not many of either.
TEST(algorithms, a_broadcast_over_nodes_goes_by_their_number_and_its_size) {
  const auto chosen = [&](std::uint32_t nodes, std::uint64_t bytes) {
    const request r{operation::broadcast, sync::all, sync::my, hint::none, 0, bytes};
    return choose(r, topology(0, alone(nodes)), tuning{})->name;
  };
  EXPECT_EQ(chosen(64, 8), "knomial");
  EXPECT_EQ(chosen(64, 256 << 10), "scatter");
  EXPECT_EQ(chosen(64, 256 << 20), "chain");
  EXPECT_EQ(chosen(4, 256 << 10), "chain");
}

TEST(algorithms, a_bad_wish_says_what_is_allowed) {
  const auto complaint = [](const char* text) -> std::string {
    try {
      parse_choice(text);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "none";
  };
  EXPECT_EQ(complaint(""), "none");
  EXPECT_EQ(complaint("broadcast=flat,exchange=bruck"), "none");
  EXPECT_NE(complaint("broadcast=ring").find("flat, knomial, chain"), std::string::npos);
  EXPECT_NE(complaint("broadcst=flat").find("broadcast, gather_all, exchange"), std::string::npos);
  EXPECT_NE(complaint("broadcast").find("operation=algorithm"), std::string::npos);
  EXPECT_THROW(parse_costs("latncy=3"), std::invalid_argument);
  EXPECT_THROW(parse_costs("latency"), std::invalid_argument);
  EXPECT_THROW(parse_costs("latency=3x"), std::invalid_argument);
  EXPECT_EQ(parse_costs("latency=3,byte=7").latency, 3u);
  EXPECT_EQ(parse_costs("latency=3,byte=7").byte, 7u);
}

TEST(algorithms, what_rank_0_publishes_is_what_the_others_use) {
  engine::settings s;
  s.algorithm = "gather_all=ring,exchange=spread";
  s.costs = "latency=17";
  s.window = 5;
  const tuning mine = tuning_of(s);
  const auto theirs = tuning_from(numbers_of(mine));
  ASSERT_TRUE(theirs);
  EXPECT_EQ(numbers_of(*theirs), numbers_of(mine));
  EXPECT_EQ(theirs->forced, mine.forced);
  EXPECT_EQ(theirs->costs.latency, 17u);
  EXPECT_EQ(theirs->window, 5u);
  EXPECT_FALSE(tuning_from(std::vector<std::uint64_t>(3)));
  s.algorithm = "gather_all=tree";
  EXPECT_THROW(tuning_of(s), engine::setting_error);
}

} // namespace
} // namespace weft::graph
