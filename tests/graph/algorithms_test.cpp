// SPDX-License-Identifier: BSD-3-Clause
// Every algorithm of the list, checked wherever it fits.
#include "engine/collectives/tuning.hpp"
#include "engine/memory/mailbox.hpp"
#include "engine/plan/names.hpp"
#include "engine/plan/resolve.hpp"
#include "engine/topology/topology.hpp"
#include "tests/graph/fits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>

namespace weft::graph {
namespace {
using namespace collectives;

std::vector<plan> compile_by(const algorithm& a, const request& r, const node_map& nodes,
                             std::uint64_t window = tuning{}.window) {
  tuning t = forcing(a.op, a.name);
  t.window = window;
  if (a.name == "relayed") t.costs.gap *= 100; // a deep tree, though hosts are few
  return compile_all(r, nodes, t);
}

std::vector<node_map> maps_of(std::uint32_t members) {
  node_map uneven; // 1, 2, 3 and on
  for (std::uint32_t host = 0; uneven.size() < members; ++host)
    uneven.insert(uneven.end(), std::min<std::size_t>(host + 1, members - uneven.size()), host);
  return {alone(members),    blocks_of(members, 2), blocks_of(members, 3),
          dealt(members, 2), dealt(members, 5),     uneven};
}

void for_each_staged(std::uint32_t members, const std::vector<node_map>& maps,
                     const std::function<void(const algorithm&, const request&, const node_map&)>& visit) {
  for (const algorithm& a : algorithms()) {
    if (!is_staged_algorithm(a)) continue;
    for (const node_map& nodes : maps) {
      for (const sync in : {sync::no, sync::my, sync::all}) {
        for (const sync out : {sync::no, sync::my, sync::all}) {
          const std::uint64_t longest = a.name == "twins" ? 65537 : 300001; // a payload, pieces
          for (const std::uint64_t bytes : {std::uint64_t{8}, std::uint64_t{2048}, longest}) {
            for (const std::uint32_t root : std::set<std::uint32_t>{0, members / 2, members - 1}) {
              if (root != 0 && !rooted(a.op)) continue;
              if (of_vectors(a.op) ? in != sync::my || out != sync::my
                                   : computes(a.op) && bytes > most_partials)
                continue;
              const request r{a.op, in, out, hint::none, root, bytes};
              if (fits_all(a, r, nodes)) visit(a, r, nodes);
            }
          }
        }
      }
    }
  }
}

class every_algorithm : public testing::TestWithParam<std::uint32_t> {};

TEST_P(every_algorithm, is_correct_where_it_fits) {
  for_each_staged(GetParam(), maps_of(GetParam()),
                  [&](const algorithm& a, const request& r, const node_map& nodes) {
                    if (HasFailure()) return;
                    const verdict v = verify(compile_by(a, r, nodes), nodes, specified(r));
                    EXPECT_TRUE(v.ok()) << a.name << ": " << text(r, nodes) << "\n" << v.text();
                  });
}

INSTANTIATE_TEST_SUITE_P(members, every_algorithm,
                         testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 31, 33),
                         testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(long_members, every_algorithm, testing::Range(1u, 65u),
                         testing::PrintToStringParamName());

// Mutation: who sends to the hosts of a window waits for theirs before he sends to the next.
TEST(algorithms, no_window_is_too_narrow) {
  for (const std::uint32_t members : {4u, 6u, 8u, 9u}) {
    for_each_staged(members, {alone(members), blocks_of(members, 2), blocks_of(members, 3)},
                    [&](const algorithm& a, const request& r, const node_map& nodes) {
                      if (HasFailure() || r.bytes == 2048) return;
                      const verdict v = verify(compile_by(a, r, nodes, 1), nodes, specified(r));
                      EXPECT_TRUE(v.ok()) << a.name << ": " << text(r, nodes) << "\n" << v.text();
                    });
  }
}

std::uint32_t payloads_sent(const plan& p) {
  std::uint32_t sent = 0;
  for (unsigned n = 0; n < p.size; ++n) {
    const node& loop = p.nodes[n];
    if (loop.what != kind::loop) continue;
    for (unsigned s = loop.body; s < unsigned{loop.body} + loop.body_size; ++s) {
      const node& it = p.nodes[s];
      const bool payload = it.what == kind::signal && it.about == fact::payload;
      if (payload || it.what == kind::put) sent += loop.count;
    }
  }
  return sent;
}

// Between nodes N-1, and one for each neighbour of a leader: the tree's shape, whatever its radix.
TEST(algorithms, a_knomial_broadcast_sends_each_far_leader_one_payload_and_no_rank_many) {
  for (const std::uint32_t members : {2u, 7u, 16u, 61u, 64u}) {
    for (const node_map& nodes : {alone(members), blocks_of(members, 3)}) {
      for (const std::uint64_t bytes : {std::uint64_t{8}, std::uint64_t{300001}}) {
        const request r{operation::broadcast, sync::all, sync::no, hint::none, members / 2, bytes};
        const auto plans = compile_by(named(r.op, "knomial"), r, nodes);
        const topology g(0, nodes);
        const std::uint32_t radix = plans[0].radix;
        if (g.one_host()) continue;
        std::uint32_t between = 0, within = 0;
        for (const plan& p : plans) {
          const std::uint32_t sent = payloads_sent(p);
          EXPECT_LE(sent, (radix - 1) * tree::depth(g.hosts(), radix)) << text(r, nodes);
          between += sent;
          within += leads(p, topology(p.me, nodes)) ? 0 : 1;
        }
        EXPECT_EQ(between, g.hosts() - 1) << text(r, nodes);
        EXPECT_EQ(between + within, members - 1) << text(r, nodes);
      }
    }
  }
}

TEST(algorithms, a_tree_has_every_vertex_once_and_no_more_children_than_it_may) {
  for (std::uint32_t size = 1; size <= 130; ++size) {
    for (const std::uint32_t radix : {2u, 3u, 4u, 7u, 200u}) {
      std::vector<std::uint32_t> parents(size, size);
      for (std::uint32_t v = 0; v < size; ++v) {
        const std::uint32_t count = tree::children(v, size, radix);
        EXPECT_LE(count, (radix - 1) * tree::depth(size, radix));
        for (std::uint32_t k = 0; k < count; ++k) {
          const std::uint32_t c = tree::child(v, size, radix, k);
          ASSERT_LT(c, size);
          EXPECT_EQ(parents[c], size) << "two parents";
          EXPECT_EQ(tree::parent(c, radix), v);
          parents[c] = v;
        }
      }
      EXPECT_EQ(std::count(parents.begin(), parents.end(), size), 1) << "all but the root have a parent";
    }
  }
}

// Each member of another host has one above it, and comes to the root by those above.
TEST(algorithms, relays_reach_every_far_member_once) {
  for (const std::uint32_t members : {2u, 7u, 16u, 61u}) {
    for (const node_map& nodes : maps_of(members)) {
      for (const std::uint32_t radix : {2u, 3u, 5u, 200u}) {
        const std::uint32_t root = members / 2;
        const topology g(root, nodes);
        const relay_tree tree(g, root, radix);
        std::vector<std::uint32_t> above(members, members);
        for (std::uint32_t member = 0; member < members; ++member)
          for (std::uint32_t k = 0; k < tree.below(member); ++k) {
            const std::uint32_t child = tree.child(member, k);
            EXPECT_EQ(above[child], members) << "two above";
            EXPECT_NE(g.host(child), g.host(member));
            EXPECT_EQ(tree.above(child), member);
            above[child] = member;
          }
        for (std::uint32_t member = 0; member < members; ++member)
          EXPECT_EQ(above[member] == members, g.is_near(member)) << member;
      }
    }
  }
}

TEST(algorithms, a_dissemination_sends_a_message_a_step) {
  for (const std::uint32_t members : {2u, 5u, 16u, 33u}) {
    for (const operation op : {operation::gather_all, operation::exchange}) {
      const request r{op, sync::all, sync::no, hint::none, 0, 8};
      for (const plan& p : compile_by(named(op, "bruck"), r, alone(members)))
        EXPECT_EQ(payloads_sent(p), dissemination_steps(members, p.radix));
    }
  }
}

// Where a message is worth little beside its way, the radix is the number of hosts, however many: one round,
// more messages than a loop has under way. Where blocks are too long for the messages of several rounds, too.
TEST(algorithms, a_dissemination_of_many_hosts_may_be_one_round) {
  for (const operation op : {operation::gather_all, operation::exchange}) {
    for (const node_map& nodes : {alone(66), blocks_of(134, 2)}) {
      for (const sync out : {sync::no, sync::my, sync::all}) {
        for (const std::uint64_t window : {1, 5, 64}) {
          const request r{op, sync::all, out, hint::none, 0, 8};
          tuning t = forcing(op, "bruck");
          t.costs.latency = 10'000'000;
          t.window = window;
          const std::vector<plan> plans = compile_all(r, nodes, t);
          const std::uint32_t hosts = topology(0, nodes).hosts();
          EXPECT_EQ(plans.front().radix, hosts);
          EXPECT_EQ(payloads_sent(plans.front()), hosts - 1);
          for (const node& n : plans.front().nodes)
            EXPECT_FALSE(n.what == kind::loop && n.count == hosts - 1 && n.ordered != 0)
                << "a message waits for those before it";
          const verdict v = verify(plans, nodes, specified(r));
          EXPECT_TRUE(v.ok()) << text(r, nodes) << "\n" << v.text();
        }
      }
    }
  }
  const request r{operation::exchange, sync::all, sync::my, hint::none, 0, 256};
  const topology g(0, blocks_of(8192, 64));
  EXPECT_EQ(compile(r, g, forcing(r.op, "bruck")).radix, 128u);
  EXPECT_LT(4 * named(r.op, "bruck").cost(r, g, tuning{}), named(r.op, "spread").cost(r, g, tuning{}));
}

TEST(algorithms, a_distance_goes_in_the_steps_of_its_digits) {
  for (const std::uint32_t hosts : {1u, 2u, 3u, 8u, 9u, 31u, 64u, 100u, 1000u}) {
    for (const std::uint32_t radix : {2u, 3u, 4u, 7u, 10u, 64u, 1000u}) {
      std::vector<std::uint32_t> gone(hosts, 0);
      std::set<std::uint32_t> distances;
      for (std::uint32_t k = 0; k < dissemination_steps(hosts, radix); ++k) {
        const round_step step = round_step_of(k, radix);
        EXPECT_LT(step.distance(), hosts);
        EXPECT_TRUE(distances.insert(step.distance()).second) << "two messages to the same peer";
        std::uint32_t count = 0;
        each_travelling(hosts, radix, step, [&](std::uint32_t d) {
          gone.at(d) += step.distance();
          ++count;
        });
        EXPECT_EQ(count, travelling(hosts, radix, step)) << hosts << " " << radix << " " << k;
      }
      for (std::uint32_t d = 0; d < hosts; ++d)
        EXPECT_EQ(gone[d], d) << hosts << " " << radix;
    }
  }
}

TEST(algorithms, two_hosts_have_pairs_of_leaders_and_the_members_share_them) {
  for (const node_map& nodes :
       {alone(7), blocks_of(12, 4), blocks_of(13, 3), blocks_of(20, 10), dealt(17, 5),
        node_map{0, 0, 0, 0, 0, 0, 1, 2, 2, 3}, node_map{0, 1, 0, 1, 1, 2, 0, 2, 2, 1, 1}}) {
    for (std::uint32_t pairs = 1; pairs <= topology(0, nodes).smallest_host(); ++pairs) {
      // From which member to which host, and how often blocks of a member go there.
      std::set<std::array<std::uint32_t, 2>> twins;
      std::map<std::array<std::uint32_t, 2>, unsigned> carried;
      for (std::uint32_t me = 0; me < nodes.size(); ++me) {
        const topology g(me, nodes);
        const pairing of{g, pairs};
        EXPECT_LE(of.led(me), most_led(g, of.pairs));
        std::uint32_t k = 0;
        of.each_led(k, [&](std::uint32_t pair) {
          const std::uint32_t there = of.other_host(pair), twin = of.twin(pair);
          ASSERT_NE(there, g.host(me));
          ASSERT_EQ(g.host(twin), there);
          if (pairs == 1) {
            EXPECT_EQ(leader_towards(g, g.host(me), there), me);
          }
          EXPECT_TRUE(twins.insert({me, twin}).second) << me << " and " << twin << " are two pairs";
          const member_run share = of.share(g.host(me), pair);
          for (std::uint32_t giver = share.begin; giver < share.begin + share.count; ++giver)
            ++carried[{g.in_host_order(g.first(g.host(me)) + giver), there}];
        });
      }
      const topology g(0, nodes);
      EXPECT_EQ(twins.size(), std::size_t{g.hosts()} * (g.hosts() - 1) * pairs);
      for (const auto& [one, other] : twins)
        EXPECT_TRUE(twins.contains({other, one})) << one << " and " << other << " of " << pairs;
      EXPECT_EQ(carried.size(), std::size_t{g.size()} * (g.hosts() - 1));
      for (const auto& [from_to, times] : carried)
        EXPECT_EQ(times, 1u) << "blocks of " << from_to[0] << " to host " << from_to[1];
    }
  }
}

// Its rounds are taken by ranks that have posted and compute, when they are rung.
TEST(algorithms, an_all_reduce_in_halves_holds_up_no_rank_behind_a_member_that_is_rung) {
  for (const node_map& nodes : {blocks_of(4, 2), blocks_of(8, 2), blocks_of(12, 3), blocks_of(16, 2)}) {
    const request r{operation::team_allreduce, sync::my, sync::my, hint::none, 0, 300001};
    const std::vector<plan> plans = compile_by(named(r.op, "halved"), r, nodes);
    const auto last = static_cast<std::uint32_t>(nodes.size() - 1);
    for (const auto& absent : {std::vector<std::uint32_t>{0}, {last}, {0, last}, {1, 2, 3}}) {
      const verdict v = verify_rung(plans, nodes, absent, specified(r));
      EXPECT_TRUE(v.ok()) << text(r, nodes) << "\n" << v.text();
    }
  }
}

// A message to another host that is too long for a payload goes in several, by as many pairs of members.
TEST(algorithms, what_two_hosts_tell_each_other_is_shared_by_as_many_pairs_as_it_takes) {
  const node_map nodes = blocks_of(256, 64);
  std::uint64_t before = 0;
  for (const std::uint64_t bytes : {8, 32, 64, 256, 1024}) {
    const request r{operation::exchange, sync::all, sync::my, hint::none, 0, bytes};
    const std::vector<plan> plans = compile_by(named(r.op, "paired"), r, nodes);
    std::uint64_t messages = 0;
    for (const plan& p : plans)
      for (const node& n : p.nodes)
        if (n.what == kind::loop && p.nodes[n.body].what == kind::signal &&
            p.nodes[n.body].about == fact::payload)
          messages += n.count;
    EXPECT_EQ(messages, 4u * 3 * plans[0].radix) << bytes;
    const topology g(0, nodes);
    EXPECT_EQ(choose(r, g, tuning{})->name, "paired") << bytes;
    EXPECT_GE(plans[0].radix, before) << bytes;
    before = plans[0].radix;
    EXPECT_LE(64 / plans[0].radix * 64 * bytes, engine::mailbox::large_bytes) << bytes;
  }
  EXPECT_GE(before, 32u); // 4 MiB in messages of 128 KiB
}

TEST(algorithms, a_ring_sends_each_block_once_into_each_node) {
  const node_map nodes = blocks_of(24, 4);
  const request r{operation::gather_all, sync::all, sync::my, hint::none, 0, 65536};
  for (const plan& p : compile_by(named(r.op, "ring"), r, nodes))
    EXPECT_EQ(payloads_sent(p), p.me % 4 == 0 ? 20u : 0u);
}

// log2(N) rounds; a put for each stretch of blocks that lie side by side, and each block once into each node.
TEST(algorithms, a_doubling_sends_each_block_once_into_each_node_in_few_puts) {
  const auto received_and_puts = [](const node_map& nodes) {
    const request r{operation::gather_all, sync::all, sync::my, hint::none, 0, 65536};
    std::set<std::pair<std::uint64_t, std::uint32_t>> seen;
    for (const plan& p : compile_by(named(r.op, "doubling"), r, nodes)) {
      const topology g(p.me, nodes);
      if (!leads(p, g)) continue;
      std::uint64_t bytes = 0;
      std::uint32_t puts = 0;
      for (unsigned n = 0; n < p.size; ++n) {
        if (p.nodes[n].what != kind::put) continue;
        for (std::uint32_t round = 0; round < range::partners.count(p, g); ++round) {
          const node& put = p.nodes[n];
          const std::uint32_t peer = peer_at(p, g, &range::partners, peer_rule::each, round);
          each_region(p, g, put, resolve(p, flow::out, peer, round), [&](const region& part) {
            bytes += part.bytes;
            ++puts;
          });
        }
      }
      seen.insert({bytes / r.bytes, puts});
    }
    return seen;
  };
  using counts = std::set<std::pair<std::uint64_t, std::uint32_t>>;
  EXPECT_EQ(received_and_puts(blocks_of(32, 4)), (counts{{28, 3}}));
  EXPECT_EQ(received_and_puts(alone(16)), (counts{{15, 4}}));
  EXPECT_EQ(received_and_puts(dealt(32, 8)), (counts{{28, 28}}));
}

TEST(algorithms, a_doubling_needs_a_power_of_two_of_nodes) {
  const request r{operation::gather_all, sync::all, sync::my, hint::none, 0, 65536};
  const algorithm& a = named(r.op, "doubling");
  for (std::uint32_t members = 1; members <= 40; ++members)
    EXPECT_EQ(fits_all(a, r, alone(members)), members > 1 && std::has_single_bit(members)) << members;
  EXPECT_TRUE(fits_all(a, r, node_map{0, 0, 0, 1})) << "however many members they have";
}

} // namespace
} // namespace weft::graph
