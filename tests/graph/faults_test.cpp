// SPDX-License-Identifier: BSD-3-Clause
// Each kind of fault, planted into a good plan or built by hand, is found and called by its name.
#include "engine/plan/builder.hpp"
#include "tests/graph/sample.hpp"

namespace weft::graph {
namespace {
using namespace collectives;

TEST(faults, missing_stage_signal) {
  sample s(exchange_of(sync::no, sync::all), alone(4));
  s.drop(1, kind::signal, fact::stage_out);
  s.expect(fault::missing_signal);
}

TEST(faults, missing_entry_token) {
  sample s(exchange_of(sync::my, sync::no), alone(3));
  s.drop(2, kind::signal, fact::entry);
  s.expect(fault::missing_signal);
}

TEST(faults, missing_payload) {
  sample near(broadcast_of(sync::my, sync::my, 8), one_host(3));
  near.drop(0, kind::signal, fact::payload);
  near.expect(fault::missing_signal);
  sample far(broadcast_of(sync::my, sync::my, 8), alone(3));
  far.drop(0, kind::signal, fact::payload);
  far.expect(fault::missing_signal);
}

TEST(faults, missing_barrier_value) {
  sample s({.op = operation::barrier}, one_host(4));
  s.drop(3, kind::signal, fact::payload);
  s.expect(fault::missing_signal);
}

TEST(faults, surplus_signals) {
  sample nobody_counts(exchange_of(sync::no, sync::my), alone(3));
  nobody_counts.drop(0, kind::await, fact::consumed);
  nobody_counts.expect(fault::surplus_signal);

  sample nobody_awaits(exchange_of(sync::my, sync::no), alone(3));
  nobody_awaits.drop(0, kind::await, fact::entry);
  nobody_awaits.expect(fault::surplus_signal);

  sample twice(exchange_of(sync::my, sync::no), alone(3));
  plan& p = twice.plans[0];
  node again = twice.loop_of(0, kind::signal, fact::entry);
  p.nodes[p.size] = p.nodes[again.body];
  again.body = p.size;
  again.loop_index = p.loops++;
  p.nodes[p.size + 1] = again;
  p.top |= node_set{1} << (p.size + 1);
  p.size = static_cast<std::uint8_t>(p.size + 2);
  twice.expect(fault::surplus_signal);
}

TEST(faults, wrong_counts) {
  for (const int off : {-1, 1}) {
    sample far(exchange_of(sync::no, sync::my), alone(4));
    far.at(2, kind::await, fact::consumed).count += static_cast<std::uint32_t>(off);
    far.expect(fault::wrong_count);
    sample claimed(exchange_of(sync::my, sync::my), one_host(4));
    claimed.at(2, kind::await, fact::delivered).count += static_cast<std::uint32_t>(off);
    claimed.expect(fault::wrong_count);
  }
  sample lost(exchange_of(sync::no, sync::my), alone(4));
  lost.drop(1, kind::signal, fact::consumed);
  lost.expect(fault::wrong_count);
  sample not_full(exchange_of(sync::no, sync::all), one_host(4));
  for (plan& p : not_full.plans)
    p.chunks /= 2, p.chunk *= 2;
  for (plan& p : not_full.plans)
    EXPECT_EQ(p.chunks, 1u);
  EXPECT_TRUE(not_full.check().ok());
  not_full.plans[1].chunks = 2;
  not_full.plans[1].chunk /= 2;
  not_full.expect(fault::mismatch);
  not_full.expect(fault::wrong_count);
}

TEST(faults, cycle_across_ranks) {
  // Each waits for the other's data before it sends its own.
  const auto one = [](std::uint32_t me) {
    builder b(me, 2, 0);
    plan& p = b.draft();
    p.pairs = pattern::all_pairs;
    b.blocks_of({.bytes = 8, .src_j = 8, .dst_i = 8});
    p.in = sync::no;
    p.out = sync::my;
    p.chunk = 8;
    p.chunks = 1;
    p.far = true;
    const node_set arrived = b.add(await_count(fact::delivered, 1));
    builder::step_list steps;
    steps.then(put_to_each()).then(flush_each()).then(count_for_each(fact::delivered, 1));
    b.loop(range::far, 1, steps, arrived);
    b.add(copy_own());
    return b.finish();
  };
  const std::vector<plan> plans{one(0), one(1)};
  const verdict v = verify(plans, alone(2));
  EXPECT_TRUE(v.has(fault::cycle)) << v.text();
}

TEST(faults, unordered_rounds) {
  // Without order a round may be signalled before the one before it has come.
  sample s({.op = operation::barrier}, alone(4));
  for (plan& p : s.plans)
    p.nodes[find(p, kind::loop)].ordered = false;
  s.expect(fault::early_exit);
}

// A second get of the same blocks, after `after`.
void get_again(plan& p, node_set after) {
  p.nodes[p.size] = get_from_each();
  node loop;
  loop.what = kind::loop;
  loop.over = &range::near;
  loop.count = p.members - 1;
  loop.body = p.size;
  loop.body_size = 1;
  loop.loop_index = p.loops++;
  loop.after = after;
  p.nodes[p.size + 1] = loop;
  p.top |= node_set{1} << (p.size + 1);
  p.size = static_cast<std::uint8_t>(p.size + 2);
}

TEST(faults, race_and_written_twice) {
  sample racing(exchange_of(sync::no, sync::no), one_host(3));
  get_again(racing.plans[1], 0);
  racing.expect(fault::written_twice);
  racing.expect(fault::race);

  sample ordered(exchange_of(sync::no, sync::no), one_host(3));
  get_again(ordered.plans[1], node_set{1} << find(ordered.plans[1], kind::loop));
  ordered.expect(fault::written_twice);
  EXPECT_FALSE(ordered.check().has(fault::race));
}

TEST(faults, both_ends_carry) {
  sample s(exchange_of(sync::no, sync::no, hint::pull), one_host(2));
  s.plans[0] = compile_all(exchange_of(sync::no, sync::no, hint::push), one_host(2))[0];
  s.expect(fault::written_twice);
  s.expect(fault::never_written); // one block twice, the other not at all
}

TEST(faults, own_copy_where_all_may_claim_it) {
  sample s(exchange_of(sync::no, sync::all), one_host(3));
  for (unsigned n = 0; n < s.plans[1].size; ++n) {
    node& it = s.plans[1].nodes[n];
    if (it.what == kind::claim && it.way == direction::self) it = copy_own();
  }
  s.expect(fault::written_twice);
  s.expect(fault::race);
}

TEST(faults, byte_never_written) {
  sample own(exchange_of(sync::no, sync::no), one_host(3));
  own.drop(1, kind::copy);
  own.expect(fault::never_written);
  sample fewer(exchange_of(sync::no, sync::no), one_host(3));
  fewer.at(1, kind::loop).count = 1;
  fewer.expect(fault::never_written);
  sample shorter(exchange_of(sync::no, sync::no), one_host(3));
  for (plan& p : shorter.plans)
    --p.places[in_source].bytes, --p.places[in_mailbox].bytes, p.chunk = p.block(), p.chunks = 1;
  shorter.expect(fault::never_written);
}

TEST(faults, wrong_provenance) {
  sample shifted(exchange_of(sync::no, sync::no), one_host(3));
  shifted.plans[2].places[in_source].from = 8;
  shifted.expect(fault::wrong_provenance);
  sample claimed(exchange_of(sync::no, sync::my), one_host(3));
  claimed.plans[2].places[in_source].from = 8;
  claimed.expect(fault::wrong_provenance);
  sample eager(exchange_of(sync::my, sync::no, hint::pull, 8), one_host(3));
  for (plan& p : eager.plans)
    p.places[in_mailbox].turn = 0;
  eager.expect(fault::wrong_provenance);

  // Plans that agree with each other, on another operation.
  const std::vector<plan> gathered =
      compile_all({operation::gather_all, sync::no, sync::no, hint::pull, 0, 8}, alone(3));
  EXPECT_TRUE(verify(gathered, alone(3)).ok());
  EXPECT_TRUE(verify(gathered, alone(3), specified(exchange_of(sync::no, sync::no, hint::pull, 8)))
                  .has(fault::wrong_provenance));
}

TEST(faults, from_another_member) {
  const std::vector<plan> plans = compile_all(broadcast_of(sync::no, sync::no, 8, 1), alone(3));
  EXPECT_TRUE(verify(plans, alone(3), specified(broadcast_of(sync::no, sync::no, 8, 0)))
                  .has(fault::wrong_provenance));
}

TEST(faults, half_of_a_block_never_written) {
  const request whole = broadcast_of(sync::no, sync::no, 16, 1);
  for (const std::uint64_t skipped : {0u, 8u}) {
    std::vector<plan> plans = compile_all(broadcast_of(sync::no, sync::no, 8, 1), alone(3));
    for (plan& p : plans)
      p.places[in_source].from = p.places[in_destination].from =
          skipped; // of root 1: the first or the second half
    const verdict v = verify(plans, alone(3), specified(whole));
    EXPECT_EQ(v.findings.size(), 3u) << v.text();
    EXPECT_TRUE(v.has(fault::never_written));
  }
}

TEST(faults, written_outside) {
  const std::vector<plan> plans = compile_all(exchange_of(sync::no, sync::no), one_host(3));
  movement only_root = specified(exchange_of(sync::no, sync::no));
  only_root.pairs = pattern::from_root;
  EXPECT_TRUE(verify(plans, one_host(3), only_root).has(fault::written_outside));
}

TEST(faults, payload_cut_short) {
  sample s(exchange_of(sync::my, sync::no, hint::pull, 8), one_host(4));
  s.plans[2].eager_bytes[0] -= 8;
  s.expect(fault::malformed);
}

TEST(faults, members_of_different_operations) {
  sample modes(exchange_of(sync::no, sync::no), one_host(2));
  modes.plans[1] = compile_all(exchange_of(sync::all, sync::no), one_host(2))[1];
  modes.expect(fault::mismatch);
  sample roots(broadcast_of(sync::no, sync::no, 8), one_host(2));
  roots.plans[1] = compile_all(broadcast_of(sync::no, sync::no, 8, 1), one_host(2))[1];
  roots.expect(fault::mismatch);
  EXPECT_TRUE(verify(roots.plans, one_host(3)).has(fault::malformed));
  EXPECT_TRUE(verify({}, {}).has(fault::malformed));
}

TEST(faults, a_value_that_only_one_side_carries) {
  sample near({.op = operation::barrier}, one_host(3));
  near.at(1, kind::take, fact::payload).valued = false;
  near.expect(fault::malformed);
  sample far({.op = operation::barrier}, alone(3));
  far.at(1, kind::signal, fact::stage_in).valued = false;
  far.expect(fault::mismatch);
}

TEST(faults, a_message_to_a_near_member) {
  sample s(broadcast_of(sync::my, sync::no, 65536), alone(3));
  s.nodes = blocks_of(3, 2);
  s.plans = compile_all(s.what, s.nodes);
  s.loop_of(0, kind::signal, fact::entry).over = &range::near;
  s.expect(fault::surplus_signal); // rank 1 reads the mailbox
  s.expect(fault::missing_signal); // rank 2 cannot
}

// Each change alone makes rank 1's plan malformed.
TEST(faults, malformed_plans) {
  using change = void (*)(plan&);
  const change changes[] = {
      [](plan& p) { p.size = max_nodes + 1; },
      [](plan& p) { p.loops = max_loops + 1; },
      [](plan& p) { p.me = 0; },
      [](plan& p) { p.members = 4; },
      [](plan& p) { p.root = 3; },
      [](plan& p) { p.chunks = 9; },
      [](plan& p) { p.chunk /= 2; },
      [](plan& p) { p.far = false; },
      [](plan& p) { p.places[in_mailbox].turn = 4; },
      [](plan& p) { p.top |= node_set{1} << p.size; },
      [](plan& p) { p.top |= node_set{1} << p.nodes[find(p, kind::loop)].body; },
      [](plan& p) { p.top &= ~(node_set{1} << find(p, kind::copy)); },
      [](plan& p) { p.nodes[find(p, kind::copy)].after = node_set{1} << find(p, kind::copy); },
      [](plan& p) { p.nodes[find(p, kind::copy)].after = node_set{1} << find(p, kind::put); },
      [](plan& p) { p.nodes[find(p, kind::put)].after = 1; },
      [](plan& p) { p.nodes[find(p, kind::loop)].count = 3; },
      [](plan& p) { p.nodes[find(p, kind::loop)].count = 0; },
      [](plan& p) { p.nodes[find(p, kind::loop)].loop_index = 6; },
      [](plan& p) { p.nodes[find(p, kind::loop)].body = p.size; },
      [](plan& p) { p.nodes[find(p, kind::loop)].body_size = 64; },
      [](plan& p) { p.nodes[find(p, kind::loop)].over = &range::leader_rounds; },
      [](plan& p) { p.nodes[find(p, kind::copy)].peer = peer_rule::each; },
      [](plan& p) { p.nodes[find(p, kind::put)].peer = peer_rule::ahead; },
      [](plan& p) { p.nodes[find(p, kind::flush)] = put_to_each(); }, // two in flight
      [](plan& p) { p.nodes[find(p, kind::flush)] = assist_all(); },
      [](plan& p) { p.nodes[find(p, kind::copy)] = assist_all(); },                 // on several nodes
      [](plan& p) { p.nodes[find(p, kind::flush)] = claim_block(direction::out); }, // of a far member
  };
  for (std::size_t k = 0; k < std::size(changes); ++k) {
    SCOPED_TRACE(k);
    sample s(exchange_of(sync::no, sync::my, hint::push), alone(3));
    changes[k](s.plans[1]);
    s.expect(fault::malformed);
  }
}

TEST(faults, loops_that_share) {
  using change = void (*)(node & first, node & second);
  const change changes[] = {
      [](node& first, node& second) { second.loop_index = first.loop_index; },
      [](node& first, node& second) { second.body = first.body; },
  };
  for (const change spoil : changes) {
    sample s(exchange_of(sync::my, sync::no), alone(3));
    spoil(s.loop_of(1, kind::signal, fact::entry), s.loop_of(1, kind::get));
    s.expect(fault::malformed);
  }
}

} // namespace
} // namespace weft::graph
