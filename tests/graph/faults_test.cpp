// SPDX-License-Identifier: BSD-3-Clause
// Each kind of fault, planted into a good plan or built by hand, is found and called by its name.
#include "engine/plan/builder.hpp"
#include "tests/graph/sample.hpp"

namespace weft::graph {
namespace {
using namespace collectives;

request exchange_of(sync in, sync out, hint direction = hint::pull, std::uint64_t bytes = 65536) {
  return {operation::exchange, in, out, direction, 0, bytes};
}
request broadcast_of(sync in, sync out, std::uint64_t bytes, std::uint32_t root = 0) {
  return {operation::broadcast, in, out, hint::pull, root, bytes};
}

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

TEST(faults, access_before_entry_in_my) {
  for (const hint direction : {hint::push, hint::pull}) {
    for (const sync out : {sync::no, sync::my}) {
      for (const node_map& nodes : {one_host(3), alone(3)}) {
        sample s(exchange_of(sync::my, out, direction), nodes);
        s.drop(1, kind::await, fact::entry);
        s.expect(fault::early_access);
      }
    }
  }
}

// Entries are followed for 64 members at a time: the one that is not known is among the last.
TEST(faults, access_before_the_entry_of_one_beyond_the_first_members) {
  collectives::request broadcast = exchange_of(sync::my, sync::my, hint::pull);
  broadcast.op = collectives::operation::broadcast;
  broadcast.root = 100;
  sample s(broadcast, one_host(101));
  s.drop(1, kind::await, fact::entry);
  s.expect(fault::early_access);
}

TEST(faults, access_before_entry_in_all) {
  for (const sync out : {sync::no, sync::my, sync::all}) {
    for (const node_map& nodes : {one_host(4), alone(4), blocks_of(4, 2)}) {
      sample own_copy(exchange_of(sync::all, out), nodes);
      plan& p = own_copy.plans[3];
      for (unsigned n = 0; n < p.size; ++n) {
        if (p.nodes[n].what == kind::copy || p.nodes[n].way == direction::self) p.nodes[n].after = 0;
      }
      own_copy.expect(fault::early_access);
    }
  }
  // All members leave out the last round of the gate: half of the members are unknown.
  sample half(exchange_of(sync::all, sync::no), alone(4));
  for (plan& p : half.plans)
    p.nodes[find(p, kind::loop)].count = 1;
  half.expect(fault::early_access);
}

TEST(faults, assistance_before_the_gate) {
  sample s(exchange_of(sync::all, sync::all), one_host(3));
  s.at(1, kind::assist, fact::delivered).after = 0;
  s.expect(fault::early_access);
}

// Without the token the count of taken is the first that rank 0 hears: correct in the end, but it was made to
// wait.
TEST(faults, late_entry) {
  sample s(exchange_of(sync::my, sync::my), alone(2));
  s.drop(1, kind::signal, fact::entry);
  s.expect(fault::late_entry);
}

TEST(faults, exit_too_early_out_my) {
  for (const node_map& nodes : {one_host(3), alone(3)}) {
    sample source(exchange_of(sync::no, sync::my), nodes);
    source.drop(1, kind::await, fact::consumed);
    source.expect(fault::early_exit);
    sample destination(exchange_of(sync::no, sync::my, hint::push), nodes);
    destination.drop(1, kind::await, fact::delivered);
    destination.expect(fault::early_exit);
  }
}

TEST(faults, exit_too_early_out_all) {
  sample near(exchange_of(sync::no, sync::all), one_host(3));
  near.drop(2, kind::assist, fact::delivered);
  near.expect(fault::early_exit);
  for (const node_map& nodes : {alone(4), blocks_of(4, 2)}) {
    sample too_soon(exchange_of(sync::no, sync::all), nodes);
    too_soon.loop_of(2, kind::signal, fact::stage_out).after = 0;
    too_soon.expect(fault::early_exit);
  }
  sample one_round(exchange_of(sync::no, sync::all), alone(4));
  for (std::uint32_t r = 0; r < 4; ++r)
    one_round.loop_of(r, kind::signal, fact::stage_out).count = 1;
  one_round.expect(fault::early_exit);
  sample none(exchange_of(sync::no, sync::all), alone(4));
  for (std::uint32_t r = 0; r < 4; ++r) {
    const node& rounds = none.loop_of(r, kind::signal, fact::stage_out);
    erase(none.plans[r], static_cast<unsigned>(&rounds - none.plans[r].nodes.data()));
  }
  none.expect(fault::early_exit);
}

// Leaders speak for their hosts.
TEST(faults, a_host_that_is_spoken_for_too_early) {
  sample member(exchange_of(sync::no, sync::all), blocks_of(4, 2));
  member.at(3, kind::signal, fact::stage_out).after = 0;
  member.expect(fault::early_exit);
  sample leader(exchange_of(sync::no, sync::all), blocks_of(4, 2));
  leader.loop_of(2, kind::signal, fact::stage_out).after &=
      ~(node_set{1} << (&leader.loop_of(2, kind::await, fact::stage_out) - leader.plans[2].nodes.data()));
  leader.expect(fault::early_exit);
  sample entered(exchange_of(sync::all, sync::no), blocks_of(4, 2));
  entered.loop_of(2, kind::signal, fact::stage_in).after = 0;
  EXPECT_FALSE(entered.check().ok());
  sample told(exchange_of(sync::all, sync::no), blocks_of(4, 2));
  for (node& n : told.plans[2].nodes)
    if (n.what == kind::signal && n.about == fact::stage_in && n.peer == peer_rule::group) n.after = 0;
  EXPECT_FALSE(told.check().ok());
}

// Two members with a block each way, which one of them may carry alone: then he knows nothing of the other.
TEST(faults, a_block_tells_only_what_all_its_carriers_know) {
  const auto one = [](std::uint32_t me) {
    builder b(me, 2, 0);
    plan& p = b.draft();
    p.pairs = pattern::all_pairs;
    b.blocks_of({.bytes = 8, .src_j = 8, .dst_i = 8});
    p.in = sync::no;
    p.out = sync::all;
    p.chunk = 8;
    p.chunks = 1;
    const node_set own = b.add(copy_own());
    builder::step_list steps;
    steps.then(claim_block(direction::in)).then(claim_block(direction::out));
    const node_set claimed = b.loop(range::near, 1, steps, own);
    b.add(await_count(fact::delivered, 1), claimed);
    b.add(await_count(fact::consumed, 1), claimed);
    return b.finish();
  };
  std::vector<plan> plans{one(0), one(1)};
  EXPECT_TRUE(verify(plans, one_host(2)).has(fault::early_exit)); // before the other's copy of its own block
  for (plan& p : plans)
    p.out = sync::my;
  EXPECT_TRUE(verify(plans, one_host(2)).ok()) << verify(plans, one_host(2)).text();
  for (plan& p : plans)
    p.valued = true; // as a barrier: nor does he know that the other has entered
  EXPECT_TRUE(verify(plans, one_host(2)).has(fault::early_exit));
}

// Under IN_MY who assists looks at the entry of both ends: so behind all blocks all have entered.
TEST(faults, assistance_under_in_my_tells_of_entries) {
  sample s(exchange_of(sync::my, sync::all), one_host(3));
  for (plan& p : s.plans) {
    p.valued = true;
    erase(p, find(p, kind::loop)); // what he awaits and claims himself
  }
  EXPECT_TRUE(s.check().ok()) << s.check().text();
  for (plan& p : s.plans)
    p.in = sync::no; // then he does not look
  s.expect(fault::early_exit);
}

TEST(faults, barrier_that_misses_a_member) {
  sample rounds({.op = operation::barrier}, alone(5));
  for (plan& p : rounds.plans)
    p.nodes[find(p, kind::loop)].count = 2;
  rounds.expect(fault::early_exit);
  sample scan({.op = operation::barrier}, one_host(5));
  scan.at(4, kind::loop).count = 3;
  scan.expect(fault::early_exit);
}

TEST(faults, dropped_flush) {
  for (const sync out : {sync::no, sync::my, sync::all}) {
    sample s(exchange_of(sync::no, out, hint::push), alone(3));
    s.drop(1, kind::flush);
    s.expect(fault::missing_flush);
  }
}

TEST(faults, signal_before_the_flush) {
  sample s(exchange_of(sync::no, sync::my, hint::push), alone(3));
  std::swap(s.at(1, kind::flush), s.at(1, kind::signal, fact::delivered));
  s.expect(fault::missing_flush);
  s.expect(fault::early_exit);
}

TEST(faults, signal_before_its_data) {
  sample put(exchange_of(sync::no, sync::my, hint::push), alone(3));
  std::swap(put.at(1, kind::put), put.at(1, kind::signal, fact::delivered));
  put.expect(fault::early_signal);
  sample get(exchange_of(sync::no, sync::my), alone(3));
  std::swap(get.at(1, kind::get), get.at(1, kind::signal, fact::consumed));
  get.expect(fault::early_signal);
  get.expect(fault::early_exit);
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
