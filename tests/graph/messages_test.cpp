// What the modes cost in messages, counted on the plans: a looser mode must be a cheaper one.
#include "tests/graph/operations.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace weft::graph {
namespace {
using namespace collectives;

// What a member does in all iterations of its loops.
struct tally {
  std::uint32_t transfers = 0; // gets, puts and claims
  std::uint32_t signals = 0;   // messages or stores that only say something
  std::uint32_t payloads = 0;
  std::uint32_t waits = 0;
};

void add(tally& t, const node& n, std::uint32_t times) {
  switch (n.what) {
  case kind::get:
  case kind::put:
  case kind::claim:
    t.transfers += times;
    break;
  case kind::signal:
    (n.about == fact::payload ? t.payloads : t.signals) += times;
    break;
  case kind::await:
  case kind::take:
    t.waits += times;
    break;
  default:
    break;
  }
}

tally count(const plan& p) {
  tally t;
  for (unsigned n = 0; n < p.size; ++n) {
    if ((p.top >> n & 1) == 0) continue;
    const node& it = p.nodes[n];
    if (it.what != kind::loop) add(t, it, 1);
    for (unsigned s = 0; it.what == kind::loop && s < it.body_size; ++s)
      add(t, p.nodes[it.body + s], it.count);
  }
  return t;
}

std::uint32_t signals(const std::vector<plan>& plans) {
  std::uint32_t all = 0;
  for (const plan& p : plans)
    all += count(p).signals;
  return all;
}

TEST(messages, no_no_broadcast_by_pull_is_one_get_for_each) {
  for (const node_map& nodes : {one_node(8), alone(8)}) {
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
  for (const node_map& nodes : {one_node(8), alone(8)}) {
    for (const plan& p : compile_all({operation::scatter, sync::no, sync::no, hint::pull, 3, 65536}, nodes)) {
      EXPECT_EQ(count(p).transfers, p.me == 3 ? 0u : 1u);
      EXPECT_EQ(count(p).signals + count(p).waits, 0u);
    }
  }
}

TEST(messages, no_no_gather_is_carried_by_the_root_or_by_each_as_the_hint_says) {
  for (const node_map& nodes : {one_node(8), alone(8)}) {
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
    for (const node_map& nodes : {one_node(8), alone(8), blocks_of(8, 3)}) {
      const auto plans = compile_all({operation::exchange, sync::no, sync::no, direction, 0, 65536}, nodes);
      EXPECT_EQ(signals(plans), 0u);
      for (const plan& p : plans)
        EXPECT_EQ(count(p).transfers, 7u);
    }
  }
}

TEST(messages, an_eager_block_is_one_hop_without_token_or_acknowledgement) {
  const auto near = compile_all({operation::exchange, sync::my, sync::my, hint::none, 0, 8}, one_node(8));
  EXPECT_EQ(signals(near), 0u);
  EXPECT_EQ(count(near[5]).payloads, 1u);
  const auto far = compile_all({operation::exchange, sync::my, sync::my, hint::none, 0, 8}, alone(8));
  EXPECT_EQ(signals(far), 0u);
  EXPECT_EQ(count(far[5]).payloads, 7u);
}

// Only the root publishes, and only the others take.
TEST(messages, an_eager_scatter_is_one_publication_or_one_message_for_each) {
  const request r{operation::scatter, sync::my, sync::my, hint::none, 3, 8};
  for (const plan& p : compile_all(r, one_node(8))) {
    EXPECT_EQ(count(p).payloads, p.me == 3 ? 1u : 0u);
    EXPECT_EQ(p.eager_bytes, p.me == 3 ? 7u * 8 : 0u);
    EXPECT_EQ(count(p).waits, p.me == 3 ? 0u : 1u);
  }
  const auto far = compile_all(r, alone(8));
  EXPECT_EQ(signals(far), 0u);
  for (const plan& p : far)
    EXPECT_EQ(count(p).payloads, p.me == 3 ? 7u : 0u);
}

// Everybody publishes, and only the root takes.
TEST(messages, an_eager_gather_is_one_payload_of_each) {
  const request r{operation::gather, sync::my, sync::my, hint::none, 3, 8};
  for (const node_map& nodes : {one_node(8), alone(8), blocks_of(8, 3)}) {
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
  EXPECT_TRUE(eager(operation::gather, room, one_node(5)));
  EXPECT_FALSE(eager(operation::gather, room + 1, one_node(5)));
  EXPECT_TRUE(eager(operation::scatter, room / 4, one_node(5)));
  EXPECT_FALSE(eager(operation::scatter, room / 4 + 1, one_node(5)));
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
      EXPECT_EQ(signals(compile_all({operation::exchange, in, out, hint::none, 0, 65536}, one_node(8))), 0u);
    }
  }
}

// IN_ALL is one round of a barrier before, OUT_ALL one behind.
TEST(messages, all_no_adds_one_barrier) {
  for (const std::uint32_t members : {2u, 5u, 8u, 64u}) {
    const std::uint32_t barrier = members * static_cast<std::uint32_t>(std::bit_width(members - 1));
    for (const operation op : moving) {
      EXPECT_EQ(signals(compile_all({op, sync::all, sync::no, hint::none, 0, 65536}, alone(members))),
                barrier);
    }
    EXPECT_EQ(signals(compile_all({.op = operation::barrier}, alone(members))), barrier);
  }
}

TEST(messages, all_all_adds_at_most_two_barriers) {
  for (const std::uint32_t members : {2u, 5u, 8u, 64u}) {
    const std::uint32_t barrier = signals(compile_all({.op = operation::barrier}, alone(members)));
    for (const operation op : moving) {
      for (const hint direction : {hint::push, hint::pull}) {
        const auto loose = compile_all({op, sync::no, sync::no, direction, 0, 65536}, alone(members));
        const auto all = compile_all({op, sync::all, sync::all, direction, 0, 65536}, alone(members));
        EXPECT_EQ(signals(all), signals(loose) + 2 * barrier);
      }
    }
  }
}

TEST(messages, a_plan_is_as_large_for_64_members_as_for_2) {
  for_each_request(64, [](const request& r) {
    for (const bool near : {false, true}) {
      request small = r;
      small.root = r.root == 0 ? 0 : 1;
      const auto few = compile_all(small, near ? one_node(2) : alone(2));
      const auto many = compile_all(r, near ? one_node(64) : alone(64));
      EXPECT_EQ(few[0].size, many[0].size) << text(r, {});
      EXPECT_EQ(few[1].size, many[63].size) << text(r, {});
    }
  });
}

} // namespace
} // namespace weft::graph
