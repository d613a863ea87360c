// SPDX-License-Identifier: BSD-3-Clause
// What the modes cost in messages, counted on the plans: a looser mode must be a cheaper one.
#include "engine/collectives/algorithm.hpp"
#include "engine/operations/all_kinds.hpp"
#include "engine/topology/topology.hpp"
#include "tests/graph/operations.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace weft::graph {
namespace {
using namespace collectives;

// What a member does in all iterations of its loops.
struct tally {
  std::uint32_t transfers = 0; // gets, puts and claims
  std::uint32_t signals = 0;   // messages, or stores for one member, that only say something
  std::uint32_t payloads = 0;  // the slot's payload for all near members, or a message's
  std::uint32_t waits = 0;
};

// How often a step is for a peer of its lane, in the iterations of its loop.
std::uint32_t times(const plan& p, const node& loop, const node& step, const node_map& nodes,
                    const row_names& names) {
  if (loop.over == &range::leader_rounds) return loop.count;
  const auto wanted = [&](std::uint32_t peer) {
    return step.only == lane::any || (step.only == lane::near) == (nodes[peer] == nodes[p.me]);
  };
  std::uint32_t n = 0;
  for (std::uint32_t r = 0; r < p.members; ++r) {
    if (loop.over == &range::named && names.at(p.me) == r) n += wanted(r);
    if (loop.over == &range::naming && names.at(r) == p.me)
      n += r != p.me && wanted(r); // its own, by whom it names
    if (loop.over == &range::others && r != p.me) n += wanted(r);
  }
  const bool known = loop.over->by_rows || loop.over == &range::others;
  return known ? n : loop.count;
}

void add(tally& t, const node& n, std::uint32_t times) {
  switch (n.what) {
  case kind::get:
  case kind::put:
  case kind::claim:
    t.transfers += times;
    break;
  case kind::signal:
    if (n.about == fact::payload || n.peer == peer_rule::group)
      t.payloads += times;
    else if (n.peer != peer_rule::self)
      t.signals += times;
    break;
  case kind::await:
  case kind::take:
    t.waits += times;
    break;
  default:
    break;
  }
}

tally count(const plan& p, const node_map& nodes, const row_names& names) {
  tally t;
  for (unsigned n = 0; n < p.size; ++n) {
    if ((p.top >> n & 1) == 0) continue;
    const node& it = p.nodes[n];
    if (it.what != kind::loop) add(t, it, 1);
    for (unsigned s = 0; it.what == kind::loop && s < it.body_size; ++s)
      add(t, p.nodes[it.body + s], times(p, it, p.nodes[it.body + s], nodes, names));
  }
  return t;
}

// Of a plan whose peers need no look at nodes and rows.
tally count(const plan& p) {
  return count(p, node_map(p.members), {});
}

std::uint32_t signals(const std::vector<plan>& plans, const node_map& nodes, const row_names& names = {}) {
  std::uint32_t all = 0;
  for (const plan& p : plans)
    all += count(p, nodes, names).signals;
  return all;
}
std::uint32_t signals(const std::vector<plan>& plans) {
  return signals(plans, node_map(plans.size()));
}

TEST(messages, no_no_broadcast_by_pull_is_one_get_for_each) {
  for (const node_map& nodes : {one_host(8), alone(8)}) {
    const auto plans = compile_all({operation::broadcast, sync::no, sync::no, hint::pull, 3, 65536}, nodes);
    for (const plan& p : plans) {
      EXPECT_EQ(count(p).transfers, p.me == 3 ? 0u : 1u);
      EXPECT_EQ(count(p).signals, 0u);
      EXPECT_EQ(count(p).waits, 0u);
      EXPECT_EQ(p.size, p.me == 3 ? 1u : 2u);
    }
  }
}

TEST(messages, no_no_scatter_by_pull_is_one_get_for_each) {
  for (const node_map& nodes : {one_host(8), alone(8)}) {
    for (const plan& p : compile_all({operation::scatter, sync::no, sync::no, hint::pull, 3, 65536}, nodes)) {
      EXPECT_EQ(count(p).transfers, p.me == 3 ? 0u : 1u);
      EXPECT_EQ(count(p).signals + count(p).waits, 0u);
    }
  }
}

TEST(messages, no_no_gather_is_carried_by_the_root_or_by_each_as_the_hint_says) {
  for (const node_map& nodes : {one_host(8), alone(8)}) {
    for (const hint direction : {hint::pull, hint::push}) {
      const bool pull = direction == hint::pull;
      for (const plan& p : compile_all({operation::gather, sync::no, sync::no, direction, 3, 65536}, nodes)) {
        EXPECT_EQ(count(p).transfers, p.me == 3 ? (pull ? 7u : 0u) : (pull ? 0u : 1u));
        EXPECT_EQ(count(p).signals + count(p).waits, 0u);
      }
    }
  }
}

TEST(messages, no_no_exchange_has_no_signal) {
  for (const hint direction : {hint::push, hint::pull}) {
    for (const node_map& nodes : {one_host(8), alone(8), blocks_of(8, 3)}) {
      const auto plans = compile_all({operation::exchange, sync::no, sync::no, direction, 0, 65536}, nodes);
      EXPECT_EQ(signals(plans), 0u);
      for (const plan& p : plans)
        EXPECT_EQ(count(p).transfers, 7u);
    }
  }
}

TEST(messages, an_eager_block_is_one_hop_without_token_or_acknowledgement) {
  const auto near = compile_all({operation::exchange, sync::my, sync::my, hint::none, 0, 8}, one_host(8));
  EXPECT_EQ(signals(near), 0u);
  EXPECT_EQ(count(near[5]).payloads, 1u);
  const auto far = compile_all({operation::exchange, sync::my, sync::my, hint::none, 0, 8}, alone(8));
  EXPECT_EQ(signals(far), 0u);
  EXPECT_EQ(count(far[5]).payloads, 7u);
}

// The root sends to those below it in the tree over the hosts, engines to all others: no plan does.
TEST(messages, a_relayed_broadcast_is_a_message_of_the_root_for_each_member_of_the_hosts_below) {
  const tuning relayed = forcing(operation::broadcast, "relayed");
  for (const std::uint32_t members : {2u, 8u, 64u, 256u}) {
    for (const node_map& nodes : {alone(members), blocks_of(members, 2), dealt(members, members / 2)}) {
      const request r{operation::broadcast, sync::my, sync::my, hint::none, members / 2, 8};
      if (topology(0, nodes).one_host()) continue;
      const auto plans = compile_all(r, nodes, relayed);
      EXPECT_EQ(signals(plans), 0u);
      for (const plan& p : plans) {
        const topology g(p.me, nodes);
        const relay_tree tree(g, r.root, p.radix);
        const std::uint32_t published = g.near().empty() ? 0 : 1;
        EXPECT_EQ(count(p).payloads, p.me == r.root ? tree.below(p.me) + published : 0u) << text(r, nodes);
        EXPECT_LE(tree.below(p.me), (p.radix - 1) * tree::depth(g.hosts(), p.radix) * g.largest_host());
        if (members == 256) {
          EXPECT_LT(tree.below(p.me), g.far().size() / 4);
        }
      }
    }
  }
}

// Only the root publishes, and only the others take.
TEST(messages, an_eager_scatter_is_one_publication_or_one_message_for_each) {
  const request r{operation::scatter, sync::my, sync::my, hint::none, 3, 8};
  for (const plan& p : compile_all(r, one_host(8))) {
    EXPECT_EQ(count(p).payloads, p.me == 3 ? 1u : 0u);
    EXPECT_EQ(p.eager_bytes[0], p.me == 3 ? 7u * 8 : 0u);
    EXPECT_EQ(count(p).waits, p.me == 3 ? 0u : 1u);
  }
  const auto far = compile_all(r, alone(8));
  EXPECT_EQ(signals(far), 0u);
  for (const plan& p : far)
    EXPECT_EQ(count(p).payloads, p.me == 3 ? 7u : 0u);
}

// Every member publishes, and only the root takes.
TEST(messages, an_eager_gather_is_one_payload_of_each) {
  const request r{operation::gather, sync::my, sync::my, hint::none, 3, 8};
  for (const node_map& nodes : {one_host(8), alone(8), blocks_of(8, 3)}) {
    const auto plans = compile_all(r, nodes);
    EXPECT_EQ(signals(plans), 0u);
    for (const plan& p : plans) {
      EXPECT_EQ(count(p).payloads, p.me == 3 ? 0u : 1u);
      EXPECT_EQ(count(p).waits, p.me == 3 ? 7u : 0u);
    }
  }
}

// The slices of a scatter share the root's room; a block of a gather has the room of its owner for itself.
TEST(messages, eager_as_long_as_the_room_of_one_rank_is_enough) {
  const std::uint64_t room = tuning{}.eager_bytes;
  const auto eager = [](operation op, std::uint64_t bytes, const node_map& nodes) {
    return compile_all({op, sync::my, sync::my, hint::none, 0, bytes}, nodes)[1].eager;
  };
  EXPECT_TRUE(eager(operation::gather, room, one_host(5)));
  EXPECT_FALSE(eager(operation::gather, room + 1, one_host(5)));
  EXPECT_TRUE(eager(operation::scatter, room / 4, one_host(5)));
  EXPECT_FALSE(eager(operation::scatter, room / 4 + 1, one_host(5)));
  EXPECT_TRUE(eager(operation::scatter, room, alone(5)));
}

TEST(messages, my_my_with_a_root_between_nodes_is_one_token_and_one_count_for_each_block) {
  for (const operation op : {operation::broadcast, operation::scatter, operation::gather}) {
    for (const hint direction : {hint::push, hint::pull}) {
      EXPECT_EQ(signals(compile_all({op, sync::my, sync::my, direction, 3, 65536}, alone(8))), 14u);
    }
  }
}

TEST(messages, my_my_between_nodes_is_one_token_and_one_count_for_each_block) {
  for (const hint direction : {hint::push, hint::pull}) {
    const auto plans = compile_all({operation::exchange, sync::my, sync::my, direction, 0, 65536}, alone(8));
    for (const plan& p : plans)
      EXPECT_EQ(count(p).signals, 14u);
  }
}

TEST(messages, on_one_node_no_mode_sends_a_signal) {
  for (const sync in : {sync::no, sync::my, sync::all}) {
    for (const sync out : {sync::no, sync::my, sync::all}) {
      EXPECT_EQ(signals(compile_all({operation::exchange, in, out, hint::none, 0, 65536}, one_host(8))), 0u);
    }
  }
}

// A row that says so, and a count; nothing within a node.
TEST(messages, my_my_permute_is_one_token_and_one_signal_for_each_pair_between_nodes) {
  for (const operation op : {operation::permute, operation::permute_x}) {
    for (const bool in_place : {false, true}) {
      const request r{op, sync::my, sync::my, hint::none, 0, 65536, in_place};
      const auto between = [&](const node_map& nodes, const row_names& names) {
        return signals(compile_all(r, nodes), nodes, names);
      };
      EXPECT_EQ(between(alone(8), shifted(8)), 16u);
      EXPECT_EQ(between(alone(8), shifted(8, 0)), 0u);
      if (in_place) continue; // there, near ones tell each other by counts too
      EXPECT_EQ(between(one_host(8), shifted(8)), 0u);
      EXPECT_EQ(between(blocks_of(8, 2), shifted(8)), 8u); // every other pair is of two nodes
    }
  }
}

TEST(messages, a_small_permute_is_one_publication_and_one_message_between_nodes) {
  const request r{operation::permute, sync::my, sync::my, hint::none, 0, 8};
  for (const plan& p : compile_all(r, one_host(8))) {
    EXPECT_EQ(count(p, one_host(8), shifted(8)).signals, 0u);
    EXPECT_EQ(count(p, one_host(8), shifted(8)).payloads, 1u); // published
  }
  for (const plan& p : compile_all(r, alone(8))) {
    EXPECT_EQ(count(p, alone(8), shifted(8)).signals, 0u);
    EXPECT_EQ(count(p, alone(8), shifted(8)).payloads, 2u); // and sent
    EXPECT_EQ(count(p, alone(8), shifted(8, 0)).payloads, 1u);
  }
}

TEST(messages, no_no_with_rows_sends_no_signal) {
  for (const operation op : moving) {
    if (of_vectors(op) || op == operation::sort) continue; // of one pair of modes; counts of its own
    for (const row_names& names : rows_for({.op = op}, 8)) {
      for (const node_map& nodes : {one_host(8), alone(8), blocks_of(8, 3)})
        EXPECT_EQ(signals(compile_all({op, sync::no, sync::no, hint::none, 3, 65536}, nodes), nodes, names),
                  0u);
    }
  }
}

// Of the block that its own pointer says, at its own place.
TEST(messages, no_no_broadcast_to_any_address_is_one_get_for_each) {
  for (const node_map& nodes : {one_host(8), alone(8)}) {
    for (const plan& p :
         compile_all({operation::broadcast_x, sync::no, sync::no, hint::pull, 3, 65536}, nodes)) {
      EXPECT_EQ(count(p).transfers, p.me == 3 ? 0u : 1u);
      EXPECT_EQ(count(p).signals + count(p).waits, 0u);
      EXPECT_EQ(p.size, p.me == 3 ? 1u : 2u);
    }
  }
}

// Who carries his own block asks the root whether it has entered, and is told; and tells it that it is done.
TEST(messages, my_my_rooted_by_rows_between_nodes_is_one_question_and_one_count_for_each_block) {
  for (const operation op : {operation::scatter_x, operation::gather_x}) {
    const auto plans = compile_all({.op = op, .in = sync::my, .out = sync::my}, alone(8));
    const row_names names = to_root(8, 3);
    for (const plan& p : plans) {
      if (p.me == 3) continue; // asks all others what to expect
      tally own;
      for (unsigned n = 0; n < p.size; ++n) {
        const node& it = p.nodes[n];
        for (unsigned s = 0; it.over == &range::named && it.what == kind::loop && s < it.body_size; ++s)
          add(own, p.nodes[it.body + s], times(p, it, p.nodes[it.body + s], alone(8), names));
      }
      EXPECT_EQ(own.signals, 2u);
      EXPECT_EQ(own.transfers, 1u);
    }
  }
}

// A hint can only choose where there is a choice.
TEST(messages, a_plan_that_ignores_hints_is_the_same_for_all) {
  for_each_request(5, [](const request& r) {
    if (!ignores_hints(r)) return;
    for (const hint direction : {hint::push, hint::pull}) {
      request hinted = r;
      hinted.direction = direction;
      const auto plans = compile_all(r, blocks_of(5, 2)), same = compile_all(hinted, blocks_of(5, 2));
      for (std::size_t k = 0; k < plans.size(); ++k)
        EXPECT_EQ(to_dot(plans[k]), to_dot(same[k])) << text(r, {});
    }
  });
}

// IN_ALL is one round of a barrier before, OUT_ALL one behind.
TEST(messages, all_no_adds_one_barrier) {
  for (const std::uint32_t members : {2u, 5u, 8u, 64u}) {
    const std::uint32_t barrier = members * static_cast<std::uint32_t>(std::bit_width(members - 1));
    for (const operation op : moving) {
      if (of_vectors(op) || op == operation::sort) continue; // of one pair of modes; counts of its own
      for (const row_names& names : rows_for({.op = op}, members)) {
        const auto plans =
            compile_all({op, sync::all, sync::no, hint::none, 0, 65536}, alone(members), flat());
        EXPECT_EQ(signals(plans, alone(members), names), barrier);
      }
    }
    EXPECT_EQ(signals(compile_all({.op = operation::barrier}, alone(members))), barrier);
  }
}

TEST(messages, all_all_adds_at_most_two_barriers) {
  for (const std::uint32_t members : {2u, 5u, 8u, 64u}) {
    const std::uint32_t barrier = signals(compile_all({.op = operation::barrier}, alone(members)));
    for (const operation op : moving) {
      if (of_vectors(op) || op == operation::sort) continue; // of one pair of modes; counts of its own
      for (const hint direction : {hint::push, hint::pull}) {
        for (const bool in_place : {false, true}) {
          if (in_place && !has_in_place(op)) continue;
          const node_map nodes = alone(members);
          const auto loose =
              compile_all({op, sync::no, sync::no, direction, 0, 65536, in_place}, nodes, flat());
          const auto all =
              compile_all({op, sync::all, sync::all, direction, 0, 65536, in_place}, nodes, flat());
          for (const row_names& names : rows_for({.op = op}, members))
            EXPECT_EQ(signals(all, nodes, names), signals(loose, nodes, names) + 2 * barrier)
                << text({op, sync::all, sync::all, direction, 0, 65536, in_place}, nodes);
        }
      }
    }
  }
}

} // namespace
} // namespace weft::graph
