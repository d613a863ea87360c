// SPDX-License-Identifier: BSD-3-Clause
// Faults planted into plans whose operands, names and roots lie in shared memory, or whose blocks change
// places.
#include "engine/plan/builder.hpp"
#include "tests/graph/sample.hpp"

#include <algorithm>

namespace weft::graph {
namespace {
using namespace collectives;

request permute_of(sync in, sync out, bool in_place = false, operation op = operation::permute) {
  return {.op = op, .in = in, .out = out, .bytes = 65536, .in_place = in_place};
}
request exchange_in_place(sync in, sync out) {
  return {.op = operation::exchange, .in = in, .out = out, .bytes = 65536, .in_place = true};
}
request by_rows_of(operation op, sync in, sync out) {
  return {.op = op, .in = in, .out = out};
}

TEST(rows_faults, nobody_waits_for_who_names_him) {
  for (const bool in_place : {false, true}) {
    for (const node_map& nodes : {one_host(3), alone(3)}) {
      sample s(permute_of(sync::my, sync::my, in_place), nodes, shifted(3));
      s.drop(1, kind::await, fact::named);
      s.expect(fault::malformed);
    }
  }
}

TEST(rows_faults, a_row_that_is_not_sent) {
  for (const bool in_place : {false, true}) {
    sample s(permute_of(sync::my, sync::my, in_place), alone(3), shifted(3));
    s.drop(1, kind::signal, fact::row);
    s.expect(fault::missing_signal);
  }
  for (const operation op : {operation::scatter_x, operation::gather_x}) {
    sample s(by_rows_of(op, sync::my, sync::my), alone(3), to_root(3, 2));
    s.drop(2, kind::signal, fact::row); // nor published for those who ask
    s.expect(fault::missing_signal);
  }
}

TEST(rows_faults, a_small_block_that_does_not_come_with_its_name) {
  request small = permute_of(sync::my, sync::my);
  small.bytes = 8;
  for (const node_map& nodes : {one_host(3), alone(3)}) {
    sample lost(small, nodes, shifted(3));
    lost.drop(2, kind::take, fact::payload);
    lost.expect(fault::never_written);
    sample narrow(small, nodes, shifted(3));
    narrow.plans[1].eager_bytes[0] = 8;
    narrow.expect(fault::malformed);
  }
  sample untold(small, one_host(3), shifted(3));
  untold.drop(1, kind::signal, fact::payload);
  untold.expect(fault::missing_signal);
  sample unsent(small, alone(3), shifted(3));
  for (node& n : unsent.plans[1].nodes)
    if (n.over == &range::named) n.after = 0; // perhaps before it was published
  unsent.expect(fault::early_signal);
  sample nameless(small, one_host(3), shifted(3));
  nameless.plans[1].names = naming::none;
  nameless.expect(fault::malformed);
}

// Near members look at all rows, at some of them when their owners have left long since.
TEST(rows_faults, a_row_that_is_not_published_on_its_node) {
  for (const sync out : {sync::my, sync::all}) {
    sample named(permute_of(sync::my, out), one_host(3), shifted(3));
    named.drop(1, kind::signal, fact::row);
    named.expect(fault::early_exit);
  }
  for (const sync in : {sync::no, sync::my, sync::all}) {
    sample rooted(by_rows_of(operation::gather_x, in, sync::my), one_host(3), to_root(3, 0));
    rooted.drop(1, kind::signal, fact::row);
    rooted.expect(fault::early_exit);
  }
}

TEST(rows_faults, a_row_read_before_all_have_entered) {
  for (const operation op : {operation::permute, operation::scatter_x}) {
    for (const node_map& nodes : {one_host(3), alone(3)}) {
      sample s(by_rows_of(op, sync::all, sync::my), nodes,
               op == operation::permute ? shifted(3) : to_root(3, 0));
      s.loop_of(1, kind::claim).after = 0;
      s.expect(fault::early_access);
    }
  }
}

TEST(rows_faults, a_peers_row_or_data_before_its_entry) {
  for (const operation op : {operation::scatter_x, operation::gather_x}) {
    for (const sync out : {sync::no, sync::my}) {
      sample near(by_rows_of(op, sync::my, out), one_host(3), to_root(3, 0));
      near.drop(1, kind::await, fact::entry);
      near.expect(fault::early_access);
      sample far(by_rows_of(op, sync::my, out), alone(3), to_root(3, 0));
      far.drop(1, kind::await, fact::row);
      far.expect(fault::early_access);
      far.expect(fault::surplus_signal); // the question
    }
  }
  for (const operation op : {operation::exchange_x, operation::gather_all_x, operation::broadcast_x}) {
    sample s({.op = op, .in = sync::my, .out = sync::my, .bytes = 65536}, alone(3));
    s.drop(1, kind::await, fact::entry);
    s.expect(fault::early_access);
  }
  for (const node_map& nodes : {one_host(3), alone(3)}) {
    sample s(exchange_in_place(sync::my, sync::my), nodes);
    s.drop(1, kind::await, fact::entry);
    s.expect(fault::early_access);
  }
}

TEST(rows_faults, a_row_used_that_was_not_fetched) {
  for (const descriptor which : {descriptor::source, descriptor::destination, descriptor::size}) {
    sample s({.op = operation::exchange_x, .in = sync::no, .out = sync::my, .in_place = true}, alone(3));
    plan& p = s.plans[2]; // leads the swap with rank 0
    for (unsigned n = 0; n < p.size; ++n) {
      if (p.nodes[n].what == kind::fetch && p.nodes[n].which == which) erase(p, n--);
    }
    s.expect(fault::missing_row);
  }
  sample pulled({.op = operation::gather_all_x, .in = sync::no, .out = sync::no}, alone(3));
  pulled.drop(1, kind::fetch);
  pulled.expect(fault::missing_row);
  sample pushed(permute_of(sync::no, sync::no, false, operation::permute_x), alone(3), shifted(3));
  pushed.drop(1, kind::fetch);
  pushed.expect(fault::missing_row);
}

TEST(rows_faults, a_look_that_waits_for_no_row) {
  sample s(by_rows_of(operation::gather_x, sync::my, sync::my), one_host(3), to_root(3, 0));
  s.drop(0, kind::await, fact::row);
  s.expect(fault::malformed);
}

// Without it the root does not know how much it must wait for.
TEST(rows_faults, a_root_that_does_not_search) {
  for (const operation op : {operation::scatter_x, operation::gather_x}) {
    for (const node_map& nodes : {one_host(4), alone(4), blocks_of(4, 2)}) {
      sample uncounted(by_rows_of(op, sync::no, sync::my), nodes, to_root(4, 1));
      const node& search = uncounted.loop_of(1, kind::discover);
      erase(uncounted.plans[1], static_cast<unsigned>(&search - uncounted.plans[1].nodes.data()));
      uncounted.expect(fault::malformed);
      erase(uncounted.plans[1], uncounted.plans[1].size - 1u); // nor does it wait
      uncounted.expect(fault::early_exit);

      sample to_the_end(by_rows_of(op, sync::no, sync::my), nodes, to_root(4, 1));
      to_the_end.loop_of(1, kind::discover).searches = false;
      to_the_end.expect(fault::malformed);

      sample too_few(by_rows_of(op, sync::no, sync::my), nodes, to_root(4, 1));
      too_few.loop_of(1, kind::discover).count = 2;
      too_few.expect(fault::wrong_count);
    }
  }
}

// The search of a member that is not the root is over with the first row that says so: whose it is, is not
// known.
TEST(rows_faults, the_end_of_a_search_tells_of_nobody) {
  sample s(by_rows_of(operation::gather_x, sync::my, sync::my), one_host(3), {0, 0, movement::no_rank});
  for (plan& p : s.plans)
    p.valued = true; // as a barrier: all should have entered
  const std::string found = s.check().text();
  EXPECT_NE(found.find("rank 2 may leave before rank 0"), std::string::npos) << found;
}

TEST(rows_faults, counts_of_what_the_rows_say) {
  for (const operation op : {operation::scatter_x, operation::gather_x}) {
    const fact at_root = op == operation::gather_x ? fact::delivered : fact::consumed;
    sample untold(by_rows_of(op, sync::no, sync::my), alone(3), to_root(3, 0));
    untold.drop(2, kind::signal, at_root);
    untold.expect(fault::wrong_count);
    sample twice(by_rows_of(op, sync::no, sync::my), alone(3), to_root(3, 0));
    twice.at(2, kind::signal, at_root).count *= 2;
    twice.expect(fault::wrong_count);
    sample unread(by_rows_of(op, sync::no, sync::my), alone(3), to_root(3, 0));
    unread.drop(0, kind::await, at_root);
    unread.expect(fault::early_exit);
  }
  for (const sync in : {sync::no, sync::my}) { // pushed and pulled
    const fact told = in == sync::my ? fact::consumed : fact::delivered;
    sample untold(permute_of(in, sync::my), alone(3), shifted(3));
    untold.drop(1, kind::signal, told);
    untold.expect(fault::missing_signal);
  }
  sample unread(permute_of(sync::my, sync::my), alone(3), shifted(3));
  unread.drop(1, kind::await, fact::consumed);
  unread.expect(fault::early_exit);
  sample static_count(permute_of(sync::no, sync::my), one_host(3), shifted(3));
  static_count.at(1, kind::await, fact::delivered).count = 0;
  static_count.expect(fault::malformed);
}

TEST(rows_faults, flushes_of_named_and_swapped_blocks) {
  for (const sync out : {sync::no, sync::my, sync::all}) {
    sample named(permute_of(sync::no, out), alone(3), shifted(3));
    named.drop(1, kind::flush);
    named.expect(fault::missing_flush);
    sample rooted(by_rows_of(operation::gather_x, sync::no, out), alone(3), to_root(3, 0));
    rooted.drop(1, kind::flush);
    rooted.expect(fault::missing_flush);
    sample swapped(exchange_in_place(sync::no, out), alone(3));
    swapped.drop(2, kind::flush);
    swapped.expect(fault::missing_flush);
  }
}

TEST(rows_faults, steps_for_the_wrong_lane) {
  const auto flag = [](kind what, lane only, fault found, sync in, const node_map& nodes) {
    sample s(permute_of(in, sync::my), nodes, shifted(4));
    for (plan& p : s.plans)
      p.nodes[find(p, what)].only = only;
    s.expect(found);
  };
  for (const node_map& nodes : {alone(4), blocks_of(4, 2)}) {
    flag(kind::get, lane::near, fault::never_written, sync::my, nodes);
    flag(kind::claim, lane::any, fault::malformed, sync::my, nodes); // a claim of a far member
    flag(kind::put, lane::near, fault::never_written, sync::no, nodes);
    flag(kind::flush, lane::near, fault::missing_flush, sync::no, nodes);
  }
  flag(kind::claim, lane::far, fault::malformed, sync::my, blocks_of(4, 2));
  flag(kind::get, lane::any, fault::written_twice, sync::my, blocks_of(4, 2)); // of a near one as well
  sample gate(permute_of(sync::all, sync::my), one_host(3), shifted(3));
  gate.at(1, kind::await, fact::entry).only = lane::far; // no near member is far
  gate.expect(fault::malformed);
}

TEST(rows_faults, swaps_of_the_wrong_pair) {
  for (const direction way : {direction::in, direction::out}) {
    sample s(exchange_in_place(sync::no, sync::my), one_host(3));
    s.at(1, kind::claim).way = way;
    s.expect(fault::malformed);
  }
  sample nothing_to_swap(exchange_of(sync::no, sync::my), one_host(3));
  nothing_to_swap.at(1, kind::claim).way = direction::swap;
  nothing_to_swap.expect(fault::malformed);

  sample both_lead(exchange_in_place(sync::no, sync::no), alone(2));
  node& led = both_lead.loop_of(1, kind::save);
  EXPECT_EQ(led.over->name, "initiated");
  plan& other = both_lead.plans[0];
  other = both_lead.plans[1];
  other.me = 0;
  other.nodes[find(other, kind::loop)].over = &range::far;
  both_lead.expect(fault::written_twice);

  sample nobody_leads(exchange_in_place(sync::no, sync::no), alone(2));
  erase(nobody_leads.plans[1], find(nobody_leads.plans[1], kind::loop));
  nobody_leads.expect(fault::never_written);
}

// Moves a step of a body behind another one.
void move_behind(plan& p, kind what, kind behind) {
  const unsigned from = find(p, what), to = find(p, behind);
  ASSERT_LT(from, to);
  std::rotate(p.nodes.begin() + from, p.nodes.begin() + from + 1, p.nodes.begin() + to + 1);
}

TEST(rows_faults, blocks_overwritten_before_they_are_read) {
  sample put_first(exchange_in_place(sync::no, sync::my), alone(2));
  move_behind(put_first.plans[1], kind::save, kind::flush);
  put_first.expect(fault::race);
  sample restored_first(exchange_in_place(sync::no, sync::my), alone(2));
  move_behind(restored_first.plans[1], kind::put, kind::restore);
  move_behind(restored_first.plans[1], kind::flush, kind::put);
  restored_first.expect(fault::race);
  for (const node_map& nodes : {one_host(3), alone(3)}) {
    sample told_first(permute_of(sync::my, sync::my, true), nodes, shifted(3));
    plan& p = told_first.plans[1];
    std::swap(p.nodes[find(p, kind::save)], p.nodes[find(p, kind::signal, fact::consumed)]);
    told_first.expect(fault::early_signal);
    told_first.expect(fault::race);
  }
  // Two buffers, called one.
  sample shared({.op = operation::exchange, .in = sync::no, .out = sync::no, .bytes = 8}, one_host(3));
  movement in_place = specified(shared.what);
  in_place.in_place = true;
  EXPECT_TRUE(verify(shared.plans, shared.nodes, in_place).has(fault::race));
}

// Two cycles of two.
const row_names pairs{1, 0, 3, 2};

TEST(rows_faults, a_cycle_that_nobody_rotates_or_that_is_left_before) {
  for (const node_map& nodes : {one_host(4), blocks_of(4, 2)}) {
    sample idle(permute_of(sync::no, sync::my, true), nodes, pairs);
    for (const std::uint32_t rank : {2u, 3u})
      idle.drop(rank, kind::rotate);
    if (nodes == one_host(4)) idle.expect(fault::never_written);
    sample left(permute_of(sync::no, sync::my, true), nodes, pairs);
    left.drop(2, kind::rotate);
    left.expect(nodes == one_host(4) ? fault::early_exit : fault::written_twice);
    for (const sync out : {sync::no, sync::my, sync::all}) {
      sample untold(permute_of(sync::no, out, true), nodes, pairs);
      untold.drop(1, kind::signal, fact::row); // its partner may come when it has left
      untold.expect(fault::early_exit);
    }
  }
  sample only_its_own(permute_of(sync::no, sync::all, true), one_host(4), pairs);
  only_its_own.at(1, kind::rotate).peer = peer_rule::self;
  only_its_own.expect(fault::early_exit);
}

TEST(rows_faults, a_cycle_rotated_too_early_or_other_bytes_of_it) {
  for (const sync out : {sync::no, sync::my, sync::all}) {
    for (const node_map& nodes : {one_host(4), blocks_of(4, 2)}) {
      sample rash(permute_of(sync::all, out, true), nodes, pairs);
      rash.at(1, kind::rotate).after = 0;
      rash.expect(fault::early_access);
    }
  }
  sample other(permute_of(sync::no, sync::my, true), one_host(4), pairs);
  other.plans[3].places[in_destination].to = 1;
  other.expect(fault::wrong_provenance);
}

TEST(rows_faults, a_rotation_where_there_can_be_none) {
  sample of_others(permute_of(sync::no, sync::my, true), blocks_of(4, 2), pairs);
  of_others.at(1, kind::rotate).peer = peer_rule::group; // of other nodes too
  of_others.expect(fault::malformed);
  sample undecided(permute_of(sync::no, sync::my, true), blocks_of(4, 2), pairs);
  undecided.loop_of(1, kind::save).after = 0; // as if no cycle were rotated
  undecided.expect(fault::malformed);
  sample uncounted(permute_of(sync::no, sync::my, true, operation::permute_x), blocks_of(4, 2), pairs);
  uncounted.at(1, kind::await, fact::consumed).after = 0;
  uncounted.expect(fault::malformed);
  sample of_pairs(exchange_in_place(sync::no, sync::my), one_host(3));
  of_pairs.at(1, kind::claim) = rotate_own();
  of_pairs.expect(fault::malformed);
  sample one_by_one(permute_of(sync::my, sync::my, true), one_host(3), shifted(3));
  one_by_one.at(1, kind::save) = rotate_own();
  one_by_one.expect(fault::malformed);
}

TEST(rows_faults, scratch_that_is_shared_or_lost) {
  using change = void (*)(plan&);
  const change changes[] = {
      [](plan& p) { erase(p, find(p, kind::restore)); },
      [](plan& p) { erase(p, find(p, kind::save)); },
      [](plan& p) { p.nodes[find(p, kind::put)] = save_piece(); },
      [](plan& p) { p.nodes[find(p, kind::put)] = discover_root(); },
      [](plan& p) { p.nodes[find(p, kind::put)] = fetch_operand(descriptor::size, direction::in); },
      [](plan& p) { p.nodes[find(p, kind::put)] = await_named(); },
      [](plan& p) { p.nodes[find(p, kind::put)] = send_row(); },
      [](plan& p) { p.nodes[find(p, kind::put)] = ask_for_row(); },
      [](plan& p) { p.nodes[find(p, kind::loop)].over = &range::named; },
      [](plan& p) { p.nodes[find(p, kind::loop)].over = &range::naming; },
      [](plan& p) { p.nodes[find(p, kind::loop)].searches = true; },
      [](plan& p) { p.nodes[find(p, kind::loop)].only = lane::far; },
      [](plan& p) { p.nodes[find(p, kind::put)].only = lane::near; },
      [](plan& p) { p.in_place = false; },
      [](plan& p) { p.chunks = indirect_chunks; },
  };
  for (std::size_t k = 0; k < std::size(changes); ++k) {
    SCOPED_TRACE(k);
    sample s(exchange_in_place(sync::no, sync::no), alone(3));
    changes[k](s.plans[2]);
    s.expect(fault::malformed);
  }
}

TEST(rows_faults, members_that_read_rows_differently) {
  sample names(permute_of(sync::no, sync::no, false, operation::permute_x), one_host(3), shifted(3));
  names.plans[1].names = naming::wide_thread;
  names.expect(fault::mismatch);
  sample columns({.op = operation::exchange_x, .in = sync::no, .out = sync::no}, one_host(3));
  columns.plans[1].places[in_destination].pointer.which = column::only;
  columns.expect(fault::mismatch);
  sample pieces({.op = operation::exchange_x, .in = sync::no, .out = sync::no}, one_host(3));
  pieces.plans[1].whole_block /= 2;
  pieces.expect(fault::mismatch);
  const std::vector<plan> plans = compile_all(permute_of(sync::no, sync::no), one_host(3));
  EXPECT_TRUE(verify(plans, one_host(3), specified(permute_of(sync::no, sync::no), {1, 2, 3}))
                  .has(fault::malformed)); // rank 3 of 3
}

// Two rows name one member: it takes the one and not the other, and none names another.
TEST(rows_faults, rows_that_are_no_permutation) {
  for (const node_map& nodes : {one_host(3), alone(3)}) {
    const request r = permute_of(sync::my, sync::my);
    const verdict v = verify(compile_all(r, nodes), nodes, specified(r, {1, 1, 0}));
    EXPECT_TRUE(v.has(fault::missing_signal)) << v.text();
    EXPECT_FALSE(v.has(fault::malformed)) << v.text();
  }
}

} // namespace
} // namespace weft::graph
