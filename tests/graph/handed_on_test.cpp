// SPDX-License-Identifier: BSD-3-Clause
// What can be wrong with plans that hand data on between hosts, and what it is called.
#include "engine/plan/names.hpp"
#include "engine/plan/resolve.hpp"
#include "tests/graph/operations.hpp"

#include <gtest/gtest.h>

namespace weft::graph {
namespace {
using namespace collectives;

class handed_on : public testing::Test {
protected:
  void start(operation op, std::string_view name, sync out, std::uint64_t bytes, node_map where) {
    what_ = {op, sync::all, out, hint::none, 0, bytes};
    nodes_ = std::move(where);
    plans_ = compile_all(what_, nodes_, forcing(op, name));
    ASSERT_TRUE(check().ok()) << check().text();
  }
  verdict check() const { return verify(plans_, nodes_, specified(what_)); }
  static bool moves(const node& n, std::string_view of) {
    return n.of != nullptr ? n.of->name == of : of.empty();
  }
  node& first(std::uint32_t rank, kind k, std::string_view of) {
    for (node& n : plans_[rank].nodes)
      if (n.what == k && moves(n, of)) return n;
    throw std::logic_error("no such node");
  }
  node& first_stepwise(std::uint32_t rank, kind k) {
    for (node& n : plans_[rank].nodes)
      if (n.what == k && n.stepwise) return n;
    throw std::logic_error("no such node");
  }
  node& loop_over(std::uint32_t rank, std::string_view over) {
    for (node& n : plans_[rank].nodes)
      if (n.what == kind::loop && n.over->name == over) return n;
    throw std::logic_error("no such loop");
  }
  // Only the steps still await what is delivered.
  void erase_total(std::uint32_t rank) {
    plan& p = plans_[rank];
    for (unsigned k = 0; k < p.size; ++k)
      if (p.nodes[k].what == kind::await && p.nodes[k].about == fact::delivered &&
          p.nodes[k].phase == phase_ && !p.nodes[k].stepwise)
        return erase(p, k);
    throw std::logic_error("no such node");
  }
  void expect(fault f) { EXPECT_TRUE(check().has(f)) << check().text(); }

  request what_;
  node_map nodes_;
  std::vector<plan> plans_;
  std::uint8_t phase_ = 0; // of the ring
};

TEST_F(handed_on, before_it_has_landed) {
  start(operation::broadcast, "knomial", sync::no, 300001, alone(4));
  loop_over(2, "children").after = 0;
  expect(fault::race);
}

TEST_F(handed_on, a_piece_too_early) {
  start(operation::broadcast, "chain", sync::no, 300001, alone(3));
  first_stepwise(2, kind::await).count = 1;
  expect(fault::race);
}

TEST_F(handed_on, pieces_counted_in_no_order) {
  start(operation::broadcast, "chain", sync::no, 300001, alone(3));
  ASSERT_GT(loop_over(0, "the next leader").count, 1u);
  loop_over(0, "the next leader").pipelined = false;
  expect(fault::wrong_count);
}

TEST_F(handed_on, a_count_told_before_the_flush) {
  start(operation::gather_all, "ring", sync::no, 300001, alone(4));
  const node& loop = loop_over(1, "the next leader");
  node* const body = &plans_[1].nodes[loop.body];
  std::swap(body[loop.body_size - 1], body[loop.body_size - 2]);
  expect(fault::race);
}

// Behind an ordered put only its receiver knows that it is in place. If he does not await it, all may leave
// before.
TEST_F(handed_on, around_a_ring_whose_last_blocks_are_left_behind) {
  start(operation::gather_all, "ring", sync::no, 8, alone(4));
  erase_total(1);
  expect(fault::missing_flush);
}

TEST_F(handed_on, scattered_and_left_behind_in_the_ring) {
  start(operation::broadcast, "scatter", sync::no, 300001, alone(3));
  phase_ = 1;
  erase_total(1);
  expect(fault::missing_flush);
}

TEST_F(handed_on, by_neighbours_from_a_leader_who_does_not_say_that_he_is_ready) {
  start(operation::gather_all, "bruck", sync::no, 8, blocks_of(4, 2));
  loop_over(1, "my leader, stepwise").after = 0;
  expect(fault::race);
}

TEST_F(handed_on, read_when_the_leader_may_have_left) {
  start(operation::broadcast, "knomial", sync::my, 300001, blocks_of(4, 2));
  const unsigned taken = find(plans_[2], kind::await, fact::consumed);
  erase(plans_[2], taken);
  expect(fault::early_exit);
}

TEST_F(handed_on, watched_on_a_leader_who_does_not_await_it) {
  start(operation::broadcast, "knomial", sync::no, 300001, blocks_of(4, 2));
  erase(plans_[2], find(plans_[2], kind::await, fact::delivered));
  expect(fault::early_exit);
}

TEST_F(handed_on, rounds_in_no_order) {
  start(operation::exchange, "bruck", sync::no, 8, alone(33));
  node& loop = loop_over(3, "rounds of twins");
  ASSERT_GT(loop.ordered, 1u);
  ASSERT_GT(loop.count, loop.ordered);
  loop.ordered = 0;
  expect(fault::race);
}

TEST_F(handed_on, sent_on_before_the_neighbours_have_been_read) {
  start(operation::exchange, "paired", sync::no, 8, blocks_of(6, 3));
  loop_over(0, "paired leaders").after = 0;
  expect(fault::race);
}

TEST_F(handed_on, left_while_a_neighbour_writes_what_has_arrived) {
  start(operation::exchange, "paired", sync::my, 8, blocks_of(6, 3));
  erase(plans_[1], find(plans_[1], kind::await, fact::delivered));
  expect(fault::early_exit);
}

TEST_F(handed_on, a_message_whose_blocks_lie_apart) {
  start(operation::exchange, "bruck", sync::no, 8, alone(33));
  node& sent = first(3, kind::signal, "travelling blocks");
  sent.read = first(3, kind::take, "travelling blocks").write;
  expect(fault::malformed);
}

TEST_F(handed_on, given_to_neighbours_before_it_has_arrived) {
  start(operation::exchange, "paired", sync::all, 8, blocks_of(6, 3));
  for (node& n : plans_[0].nodes)
    if (n.what == kind::loop && moves(plans_[0].nodes[n.body], "arriving blocks")) n.after = 0;
  expect(fault::race);
}

TEST_F(handed_on, another_portion_than_is_taken) {
  start(operation::broadcast, "knomial", sync::no, 8, alone(5));
  first(1, kind::take, "").of = &blocks::known;
  EXPECT_FALSE(check().ok());
}

TEST_F(handed_on, puts_announced_before_the_flush) {
  start(operation::gather_all, "doubling", sync::no, 300001, alone(8));
  std::swap(plans_[3].nodes[find(plans_[3], kind::flush)],
            plans_[3].nodes[find(plans_[3], kind::signal, fact::ready)]);
  expect(fault::missing_flush);
  expect(fault::race);
}

TEST_F(handed_on, puts_announced_that_were_not_made) {
  start(operation::gather_all, "doubling", sync::no, 300001, alone(8));
  std::swap(plans_[3].nodes[find(plans_[3], kind::put)],
            plans_[3].nodes[find(plans_[3], kind::signal, fact::ready)]);
  expect(fault::early_signal);
}

TEST_F(handed_on, halves_in_no_order) {
  start(operation::gather_all, "doubling", sync::no, 300001, alone(8));
  loop_over(5, "partners").ordered = false;
  expect(fault::race);
}

TEST_F(handed_on, a_half_that_the_partner_has_not_announced) {
  start(operation::gather_all, "doubling", sync::no, 300001, alone(8));
  erase(plans_[5], find(plans_[5], kind::await, fact::ready));
  expect(fault::race);
}

// The next partner may be earlier than this one, so the count of all does not say whose puts are here.
TEST_F(handed_on, halves_told_by_a_count_of_all) {
  start(operation::gather_all, "doubling", sync::no, 300001, alone(8));
  for (plan& p : plans_) {
    p.nodes[find(p, kind::signal, fact::ready)] = count_for_each(fact::delivered, 1);
    p.nodes[find(p, kind::await, fact::ready)] = await_steps(peer_rule::self);
  }
  expect(fault::wrong_count);
}

TEST_F(handed_on, a_half_followed_too_early) {
  start(operation::gather_all, "doubling", sync::no, 300001, blocks_of(8, 2));
  first_stepwise(1, kind::await).count = 1;
  expect(fault::race);
}

TEST_F(handed_on, a_half_told_to_the_neighbours_before_it_is_there) {
  start(operation::gather_all, "doubling", sync::no, 300001, blocks_of(8, 2));
  std::swap(first_stepwise(2, kind::signal), plans_[2].nodes[find(plans_[2], kind::await, fact::ready)]);
  expect(fault::race);
}

TEST_F(handed_on, a_half_that_the_neighbours_are_not_told_of) {
  start(operation::gather_all, "doubling", sync::no, 300001, blocks_of(8, 2));
  erase(plans_[2], find(plans_[2], kind::signal, fact::delivered));
  expect(fault::wrong_count);
}

TEST_F(handed_on, a_half_that_nobody_follows) {
  start(operation::gather_all, "doubling", sync::no, 300001, blocks_of(8, 2));
  --loop_over(3, "my leader, stepwise").count;
  expect(fault::never_written);
}

TEST_F(handed_on, more_rounds_than_there_are_halves) {
  start(operation::gather_all, "doubling", sync::no, 300001, blocks_of(8, 2));
  ++loop_over(3, "my leader, stepwise").count;
  expect(fault::malformed);
}

TEST_F(handed_on, halves_sent_before_the_neighbours_blocks_are_here) {
  start(operation::gather_all, "doubling", sync::no, 300001, blocks_of(8, 2));
  loop_over(4, "partners").after = 0;
  expect(fault::race);
}

TEST_F(handed_on, the_wrong_block) {
  start(operation::gather_all, "ring", sync::no, 300001, blocks_of(6, 2));
  first(1, kind::get, "next block of other hosts").of = &blocks::of_host;
  expect(fault::written_twice);
}

} // namespace
} // namespace weft::graph
