// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/memory/ring_list.hpp"
#include "progress/execution/plan_runner.hpp"

namespace weft::progress {

// Says for which words of its host this rank must be rung while it is away: those that stand between an
// operation and a step that no other rank can do for it (plan::alone). A group of words for each node that is
// ready, or for each iteration of a loop. What comes from other hosts comes by messages, which wake this rank
// by themselves. See ring_list.hpp. Under progress ownership.
template <transport::transport T> class ring_conditions {
  using fact = graph::fact;
  using kind = graph::kind;

public:
  using writer = ring_list_writer<T>;

  ring_conditions(node_steps<T>& steps, plan_runner<T>& runner)
      : steps_(steps), runner_(runner), net_(steps.members.net) {}

  // Lists what the operations under way wait for, and publishes the list if this rank is to be rung at all.
  [[gnu::noinline]] void list_all(const std::vector<operation*>& active) {
    if (!steps_.members.node().met()) return;
    looked_ = true;
    writer& waits = steps_.members.node().waits();
    for (operation* op : active) {
      if (op->run->listed == listing_ || op->status < 0) continue;
      op->run->listed = listing_;
      const channel& on = *op->channel;
      const bool end_awaited = op->asked || op->series != nullptr || !on.waiting.empty() || on.leaving;
      list(*op, end_awaited ? op->program->top : op->program->alone, waits);
    }
    if (!waits.any() && waits.complete()) return;
    listed_ = true;
    waits.publish();
  }
  bool listed() const { return listed_; }
  // Operations move on: what was looked at holds no longer, whether there was something to list or not.
  [[gnu::always_inline]] void move_on() {
    if (looked_) [[unlikely]]
      unlist();
  }

  // What kinds list by, see operation_kind.hpp.

  // There is something to do at once.
  void list_ready(writer& to) { to.add_ready(net_.rank()); }
  // Blocks that go to another host together; and those that have been asked for there.
  void list_bundle(operation& op, std::uint32_t peer, writer& to) {
    if (steps_.bundles.can_send(op, peer)) list_ready(to);
  }
  void list_asked(operation& op, std::uint32_t peer, writer& to) {
    steps_.bundles.has_asked(op, peer) ? list_box(op, peer, to) : list_near_credit(op, to);
  }
  // A root that keeps or combines has something to do at once. What all do together is counted at the end.
  void list_reduce(operation& op, const graph::node& n, writer& to) {
    const bool read = graph::operations::reduce::leaves(n);
    if (read) {
      list_cell(op, {n.about, n.phase, op.program->me, n.count}, to);
      to.end_group();
    } else if (n.peer != graph::peer_rule::group && !steps_.reductions.waits_for_others(op)) {
      return to.add_ready(net_.rank());
    }
    const std::uint32_t lender = graph::operations::reduce::lender(*op.program, op.channel->info.topology);
    list_cell(op, {fact::delivered, 0, lender, op.program->chunks}, to);
  }

  // What is on its way from another host wakes this rank when it comes.
  void list_cell(operation& op, const graph::cell& c, writer& to) {
    if (!reach<T>::near(op, c.owner)) return;
    const auto [at, value] = steps_.signals.word_of(op, c);
    list_word(op, c.owner, *at, value, to);
  }
  // That my blocks were read, in the boxes of my host, and by near members.
  void list_readers(operation& op, const graph::node& n, writer& to) {
    const graph::topology& g = op.channel->info.topology;
    bool known = true; // how many count is, when all is sent
    steps_.bundles.each_read(op, [&](std::uint32_t there, engine::word& sent) {
      list_word(op, graph::leader_towards(g, g.host(g.me()), there), sent, op.seq, to);
      known &= net_.load(sent) >= op.seq;
    });
    if (op.program->unequal && !known) return;
    const auto counted = static_cast<std::uint32_t>(steps_.bundles.counting(op, n.count));
    if (counted != 0) list_cell(op, {n.about, n.phase, op.program->me, counted}, to);
  }
  // Which another member of my host fills.
  void list_box(operation& op, std::uint32_t peer, writer& to) {
    const graph::topology& g = op.channel->info.topology;
    const std::uint32_t owner = graph::leader_towards(g, g.host(g.me()), g.host(peer));
    list_word(op, owner, steps_.signals.box_stamp(op, peer), op.seq, to);
  }
  void list_word(operation& op, std::uint32_t member, engine::word& at, std::uint64_t value, writer& to) {
    const std::byte* const segment = steps_.members.base(*op.channel, member);
    to.add(op.channel->info.world[member],
           static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(&at) - segment), value);
  }

  void list_await(operation& op, const graph::node& n, graph::cell c, writer& to) {
    switch (c.what) {
    case fact::row: // a near one may be read as soon as its owner has entered
      return list_cell(op, {fact::entry, 0, c.owner, 0}, to);
    case fact::named:
      return list_naming(op, to);
    case fact::call:
      return to.give_up();
    case fact::delivered:
    case fact::consumed:
      if (!n.stepwise && !settle_count(op, c)) return to.give_up();
      return list_cell(op, c, to);
    default:
      return list_cell(op, c, to);
    }
  }
  // How much of it must be counted in the mailbox. False where rows tell.
  static bool settle_count(const operation& op, graph::cell& c) {
    if (c.value == 0) return false;
    if (c.what == fact::delivered) c.value -= std::min(c.value, op.run->own_pieces);
    return true;
  }

  // Is a claimed block carried without this rank's being rung for it? By a rank that waits; or by the last of
  // its two ends to enter, for each end carries all that it may before it sleeps: so too in an operation that
  // one rank has called for the others, in which none of them waits.
  static bool others_carry(const operation& op) {
    const bool assisted = op.program->out == graph::sync::all && op.channel->info.topology.one_host();
    return assisted || op.program->lends();
  }
  // Then all that is left to this rank is to see its blocks counted.
  void list_counts(operation& op, writer& to) {
    const graph::plan& p = *op.program;
    bool counted = false;
    for (graph::node_set rest = p.top & ~op.run->done; rest != 0; rest &= rest - 1) {
      const graph::node& n = p.nodes[static_cast<unsigned>(std::countr_zero(rest))];
      if (n.what == kind::assist) return list_destinations(op, to);
      if (n.what != kind::await || !graph::is_counter(n.about) || n.stepwise) continue;
      list_await(op, n, graph::cell_of(p, n, p.me, 0), to);
      counted = true;
    }
    if (!counted) to.give_up();
  }
  void list_destinations(operation& op, writer& to) {
    const graph::plan& p = *op.program;
    if (p.names != graph::naming::none) return to.give_up();
    for (const std::uint32_t near : op.channel->info.topology.near())
      if (p.in == graph::sync::my && !steps_.members.entered(op, near)) {
        list_cell(op, {fact::entry, 0, near, 0}, to);
        to.end_group();
      }
    for (std::uint32_t member = 0; member < p.members; ++member)
      if (const std::uint32_t full = p.full(member); full != 0)
        list_cell(op, {fact::delivered, 0, member, full}, to);
  }

  // The cells of a slot are free again when their readers have retired the operation before.
  void list_credit(operation& op, const graph::node& n, std::uint32_t peer, writer& to) {
    const graph::topology& g = op.channel->info.topology;
    const bool to_host = n.peer == graph::peer_rule::group;
    if (!to_host && !g.is_near(peer)) return;
    const bool all = to_host || graph::is_stage(n.about);
    list_near_credit(op, to, all ? channel::no_rank : peer);
  }
  // Of all near members, or one.
  void list_near_credit(operation& op, writer& to, std::uint32_t only = channel::no_rank) {
    if (op.seq <= engine::slots) return to.add_ready(net_.rank());
    for (const std::uint32_t near : op.channel->info.topology.near())
      if (only == channel::no_rank || near == only)
        list_word(op, near, steps_.members.view(*op.channel, near).retired(), op.seq - engine::slots, to);
  }

  // The row of any near member may name this one, and so may the payload of any.
  void list_naming(operation& op, writer& to) {
    for (const std::uint32_t near : op.channel->info.topology.near()) {
      const fact awaited = steps_.members.entered(op, near) ? fact::payload : fact::entry;
      if (awaited == fact::payload && !op.program->eager) continue;
      list_cell(op, {awaited, 0, near, 0}, to);
      to.end_group();
    }
    list_cell(op, {fact::delivered, 0, op.program->me, op.program->chunks}, to);
  }

private:
  [[gnu::noinline]] void unlist() {
    looked_ = listed_ = false;
    ++listing_;
    steps_.members.node().waits().clear();
  }

  // Appends what these top nodes of the operation wait for. They have had their step.
  void list(operation& op, graph::node_set of, writer& to) {
    for (graph::node_set rest = op.run->ready & of; rest != 0; rest &= rest - 1) {
      const graph::node& n = op.program->nodes[static_cast<unsigned>(std::countr_zero(rest))];
      if (n.what == graph::kind::loop)
        list_loop(op, n, to);
      else
        list_step(op, n, op.program->me, 0, to);
      to.end_group();
    }
  }

  void list_loop(operation& op, const graph::node& n, writer& to) {
    const graph::node* const body = &op.program->nodes[n.body];
    const auto is_claim = [](const graph::node& s) { return s.what == kind::claim; };
    if (others_carry(op) && std::any_of(body, body + n.body_size, is_claim)) return list_counts(op, to);
    if (special::single_steps && n.single) return list_step_of(op, n, *body, 0, to);
    const loop_state& loop = op.run->loops[n.loop_index];
    if (loop.unfinished == 0 && loop.next != n.count) return to.add_ready(net_.rank()); // to be begun
    for (std::uint64_t rest = loop.unfinished & ~loop.in_flight; rest != 0; rest &= rest - 1) {
      const std::uint32_t iteration = loop.base + static_cast<std::uint32_t>(std::countr_zero(rest));
      const std::uint8_t step = loop.step[iteration % loop_state::window];
      if (n.pipelined && !plan_runner<T>::passed_before(loop, iteration, step)) continue;
      if (step == n.body_size) continue;
      list_step_of(op, n, body[step], iteration, to);
      if (n.body_size != 1) to.end_group(); // a loop of one step is over when all its words have come
    }
  }
  void list_step_of(operation& op, const graph::node& loop, const graph::node& step, std::uint32_t iteration,
                    writer& to) {
    const std::uint32_t peer = runner_.peer_of(op, loop, step, iteration);
    if (peer < op.program->members)
      list_step(op, step, peer, iteration, to);
    else if (step.about == fact::named)
      list_naming(op, to);
    else
      to.give_up();
  }

  void list_step(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t iteration,
                 writer& to) {
    rung_of_kind[static_cast<std::size_t>(n.what)](*this, op, n, peer, iteration, to);
  }

  using rung_function = void (*)(ring_conditions&, operation&, const graph::node&, std::uint32_t,
                                 std::uint32_t, writer&);
  static constexpr auto rung_of_kind =
      graph::operations::all_kinds::table([]<class Kind>() -> rung_function { return &Kind::rung_for; });

  node_steps<T>& steps_;
  plan_runner<T>& runner_;
  T& net_;
  bool looked_ = false, listed_ = false; // at operations; and something of them is published
  std::uint32_t listing_ = 1;            // the number of the present list
};

} // namespace weft::progress
