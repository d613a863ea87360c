// SPDX-License-Identifier: BSD-3-Clause
// Faults in the order of steps, planted into good plans: accesses before a member may, announcements before
// what they announce, exits before what they promise.
#include "engine/plan/builder.hpp"
#include "tests/graph/sample.hpp"

namespace weft::graph {
namespace {
using namespace collectives;

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

// A neighbour that sleeps until then is not woken.
TEST(faults, entry_that_wakes_no_rank) {
  sample s(exchange_of(sync::my, sync::my), one_host(2));
  s.plans[1].awaited = false;
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

// Under IN_MY a member that assists looks at the entry of both ends: so behind all blocks all have entered.
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

} // namespace
} // namespace weft::graph
