// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/operations/all_kinds.hpp"
#include "engine/plan/resolve.hpp"
#include "engine/special_paths.hpp"
#include "progress/execution/claims.hpp"
#include "progress/execution/computations.hpp"
#include "progress/execution/in_place.hpp"
#include "progress/execution/recorder.hpp"
#include "progress/execution/signals.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

namespace weft::progress {

// Runs single nodes, for one peer each: looks their kind up, and gives it what kinds do things with.
template <transport::transport T> class node_steps {
public:
  explicit node_steps(const services<T>& around)
      : members(around), flights(around.net), blocks(members), copies(members, blocks),
        claims(members, blocks, copies), in_place(members, blocks, flights), rotations(members, blocks),
        transfers(members, blocks, copies, in_place, flights), reductions(members),
        computations(members, flights), bundles(members), payloads(members, blocks, transfers, bundles),
        roots(members, blocks), calls(members),
        signals(members, blocks, flights, payloads, in_place, roots, calls, bundles) {}
  node_steps(const node_steps&) = delete;
  node_steps& operator=(const node_steps&) = delete;

  // While posting, only what others wait for is done: signals, and transfers of the UCP lane. What near
  // members have is looked at, and carried, later: the caller wants to compute. About `far` bytes leave the
  // host at most; the rest is for the next sweep.
  static constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
  void post_only(std::int64_t far) {
    computations.posting = true;
    how_ |= posting;
    far_ = far;
  }
  // How much more may leave.
  std::int64_t has_posted() {
    computations.posting = false;
    how_ &= static_cast<std::uint8_t>(~posting);
    return far_;
  }
  bool posts_only() const { return (how_ & posting) != 0; }

  outcome step(operation& op, const graph::node& n, std::uint32_t peer, flight_tag tag) {
    if (how_ != 0) return step_with_care(op, n, peer, tag);
    return run_of_kind[static_cast<std::size_t>(n.what)](*this, op, n, peer, tag);
  }

  // The same of a straight plan, for a call that does not post; while nothing is noted.
  [[gnu::always_inline]] outcome step_straight(operation& op, const graph::straight_step& s) {
    const graph::node& n = op.program->nodes[s.node];
    return run_of_kind[static_cast<std::size_t>(n.what)](*this, op, n, s.peer,
                                                         {.node = s.top, .iteration = s.iteration});
  }
  bool plain() const { return how_ == 0; }

  // From now on what happens is noted.
  void record_by(recorder& r) {
    members.record = &r;
    how_ |= noted;
  }

  // A post carries nothing for others: a rank that has done its part is through when it comes again.
  outcome help_lenders(operation& op) {
    if (!claims.any_rank_lends(op)) return outcome::blocked;
    return (how_ & posting) != 0 ? outcome::held : claims.help_lenders(op);
  }

  reach<T> members;
  flight_pool<T> flights;
  operands<T> blocks;
  lone_copies<T> copies;
  progress::claims<T> claims;
  in_place_steps<T> in_place;
  rotation_steps<T> rotations;
  progress::transfers<T> transfers;
  progress::reductions<T> reductions;
  progress::computations<T> computations;
  progress::bundles<T> bundles;
  progress::payloads<T> payloads;
  root_discovery<T> roots;
  call_check<T> calls;
  progress::signals<T> signals;

private:
  using run_function = outcome (*)(node_steps&, operation&, const graph::node&, std::uint32_t, flight_tag);
  static constexpr auto run_of_kind =
      graph::operations::all_kinds::table([]<class Kind>() -> run_function { return &Kind::run; });

  // Of a post, or noted: by itself, so that all other steps are one jump.
  [[gnu::noinline]] outcome step_with_care(operation& op, const graph::node& n, std::uint32_t peer,
                                           flight_tag tag) {
    if (how_ != noted && (can_wait(op, n, peer, tag) || leaves(op, n, peer))) return outcome::blocked;
    if (how_ >= noted) [[unlikely]]
      return step_noted(op, n, peer, tag);
    return run_of_kind[static_cast<std::size_t>(n.what)](*this, op, n, peer, tag);
  }
  [[gnu::cold, gnu::noinline]] outcome step_noted(operation& op, const graph::node& n, std::uint32_t peer,
                                                  flight_tag tag) {
    const outcome result = run_of_kind[static_cast<std::size_t>(n.what)](*this, op, n, peer, tag);
    if (result == outcome::done || result == outcome::whole || result == outcome::again ||
        result == outcome::flying)
      members.record->stepped(op, n.what, peer);
    return result;
  }

  static bool can_wait(const operation& op, const graph::node& n, std::uint32_t peer, flight_tag tag) {
    if (n.what == graph::kind::signal || computations_of_post(op, n)) return false;
    const bool looks = n.what == graph::kind::await || n.what == graph::kind::take;
    if (looks && (op.program->alone >> tag.node & 1) != 0) return false; // else it would be rung to look
    return n.about == graph::fact::named || reach<T>::near(op, peer);
  }

  // What has come before the post wakes no thread any more: so words are looked at, and payloads are taken.
  bool leaves(operation& op, const graph::node& n, std::uint32_t peer) {
    const bool looks = n.what == graph::kind::await || n.what == graph::kind::take;
    const bool ends = n.what == graph::kind::flush || n.about == graph::fact::delivered ||
                      n.about == graph::fact::consumed; // what has begun
    if (looks || ends || reach<T>::near(op, peer)) return false;
    members.later |= far_ <= 0;
    if (far_ <= 0) return true;
    const bool data = n.what != graph::kind::signal || n.about == graph::fact::payload;
    far_ -= static_cast<std::int64_t>(graph::message_worth + (data ? op.program->block() : 0));
    return false;
  }

  // What others wait for, and no rank but this one would compute: where no thread drives for it, all of it.
  static bool computations_of_post(const operation& op, const graph::node& n) {
    return n.what == graph::kind::compute && (n.quick || (op.lent && n.count == 0 && !op.at.task->user));
  }

  static constexpr std::uint8_t posting = 1, noted = 2;
  std::uint8_t how_ = 0;
  std::int64_t far_ = all; // bytes that a post may send yet
};

// Steps through the plan of one operation. A node is ready when its predecessors are done; one that finishes
// makes its successors ready. A pass gives each ready node one step. If none of them can move before one of
// the words that they wait for does, the next passes look at these words alone; see watch_list.
template <transport::transport T> class plan_runner {
public:
  explicit plan_runner(node_steps<T>& steps) : steps_(steps), net_(steps.members.net) {}

  // Moves nothing that a pass could not do all of.
  static bool is_light(const graph::plan& p) {
    return !p.large && (p.eager || (!p.by_rows && p.block() <= quota::always));
  }

  // Do loops only take what comes along?
  static bool comes_along(const operation& op) {
    return op.at.task != nullptr && op.at.task->along && !op.program->far;
  }
  // Does a rank hear of one of these steps?
  static bool is_left_alone_with(const operation& op, graph::node_set steps) {
    if (steps == 0 || !comes_along(op)) return steps != 0;
    return op.program->nodes[static_cast<unsigned>(std::countr_zero(steps))].what != graph::kind::loop;
  }

  static void begin(operation& op) {
    begin_loops(op);
    op.run->begin(*op.program);
  }

  // The first `count` steps of a straight plan, in their order. False if one is not done: then the next pass
  // goes on with that one, and with what can be done beside it.
  [[gnu::always_inline]] bool run_straight(operation& op, unsigned count) {
    const auto& steps = op.program->straight;
    for (unsigned k = 0; k < count; ++k)
      if (steps_.step_straight(op, steps[k]) != outcome::done) [[unlikely]] {
        note_straight(op, k);
        return false;
      }
    return true;
  }
  // So many of them are done.
  [[gnu::noinline]] static void note_straight(operation& op, unsigned count) {
    begin_loops(op);
    for (unsigned k = 0; k < count; ++k)
      if (const graph::straight_step& s = op.program->straight[k]; s.last) op.run->finish(*op.program, s.top);
  }

  static void begin_loops(operation& op) {
    for (std::uint8_t k = 0; k < op.program->loops; ++k) {
      loop_state& loop = op.run->loops[k];
      loop.base = loop.next = 0;
      loop.unfinished = loop.in_flight = 0;
    }
  }

  // One pass. True if a node finished or carried something; there is nothing to do before one of the armed
  // words comes.
  [[gnu::always_inline]] bool advance(operation& op) {
    if (op.run->watch.armed && nothing_came(op.run->watch)) return false;
    return op.status >= 0 && pass(op);
  }

  // Nothing of mine is left, nor of others that I may carry.
  bool over(operation& op, bool& moved) {
    const bool complete = op.flights == 0 && ((op.program->top & ~op.run->done) == 0 || op.status < 0);
    if (!complete || !op.program->lends() || op.status < 0) return complete;
    const outcome helped = steps_.help_lenders(op);
    moved |= helped == outcome::again;
    return helped != outcome::again && helped != outcome::held;
  }

  // Whose step it is; findings::no_rank where a row names no member.
  [[gnu::always_inline]] std::uint32_t peer_of(operation& op, const graph::node& loop,
                                               const graph::node& body, std::uint32_t iteration) {
    const std::uint32_t peer =
        graph::peer_at(*op.program, op.channel->info.topology, loop.over, body.peer, iteration);
    if (peer != graph::found_by_rows) [[likely]]
      return peer;
    return loop.over == &graph::range::named ? steps_.blocks.own_row(op).named : op.run->found->naming;
  }

  // Has the iteration before gone through this step?
  static bool passed_before(const loop_state& loop, std::uint32_t iteration, std::uint8_t step) {
    if (iteration == loop.base || (loop.unfinished >> (iteration - loop.base - 1) & 1) == 0) return true;
    return loop.step[(iteration - 1) % loop_state::window] > step;
  }

private:
  using node_set = graph::node_set;

  bool nothing_came(const watch_list& watch) {
    for (std::uint32_t k = 0; k < watch.count; ++k)
      if (net_.load(*watch.words[k].at) >= watch.words[k].value) return false;
    return true;
  }

  static bool not_chosen(const execution& run, const graph::node& n) {
    return run.choice != graph::branch::either && run.choice != n.on;
  }

  bool pass(operation& op) {
    const graph::plan& p = *op.program;
    execution& run = *op.run;
    run.watch.begin();
    std::uint32_t stuck = 0;
    bool moved = false;
    for (node_set rest = run.ready; rest != 0;) {
      const auto index = static_cast<std::uint8_t>(std::countr_zero(rest));
      rest &= rest - 1;
      const graph::node& n = p.nodes[index];
      outcome result = outcome::blocked;
      if (n.on != graph::branch::either && not_chosen(run, n)) [[unlikely]]
        result = n.what == graph::kind::loop && run.loops[n.loop_index].in_flight != 0 ? outcome::under_way
                                                                                       : outcome::done;
      else if (special::single_steps && n.single) [[likely]]
        result = only_step(op, n, {.node = index});
      else if (n.what != graph::kind::loop)
        result = steps_.step(op, n, p.me, {.node = index});
      else if (!comes_along(op) || !steps_.posts_only()) // else no rank hears of it
        result = run_loop(op, n, index, stuck, moved);
      if (result == outcome::done) [[likely]] {
        rest |= run.finish(p, index);
        moved = true;
      } else if (result == outcome::flying) {
        run.launch(index);
        moved = true;
      } else if (result == outcome::failed) {
        return true;
      } else if (result != outcome::under_way) {
        ++stuck; // or has more to do at once: then it is in no list either
        moved |= result == outcome::again || result == outcome::repeat;
      }
    }
    run.watch.arm(stuck);
    return moved;
  }

  // Of a loop that has no other, for one peer: nothing to keep count of.
  outcome only_step(operation& op, const graph::node& loop, flight_tag tag) {
    const graph::node& body = op.program->nodes[loop.body];
    const std::uint32_t peer = peer_of(op, loop, body, 0);
    return peer == findings::no_rank || skips(op, body, peer) ? outcome::done
                                                              : steps_.step(op, body, peer, tag);
  }

  // Is the step for peers of the other lane?
  static bool skips(const operation& op, const graph::node& step, std::uint32_t peer) {
    return step.only != graph::lane::any && (step.only == graph::lane::near) != reach<T>::near(op, peer);
  }

  // What of it is stuck and whether something moved, its iterations say.
  [[gnu::noinline]] outcome run_loop(operation& op, const graph::node& n, std::uint8_t index,
                                     std::uint32_t& stuck, bool& moved) {
    loop_state& loop = op.run->loops[n.loop_index];
    if (n.searches && is_not_root(op)) return outcome::done;
    for (;;) {
      open_window(loop, n, op.program->window);
      std::uint64_t ready = loop.unfinished & ~loop.in_flight;
      while (ready != 0) {
        const auto bit = static_cast<std::uint32_t>(std::countr_zero(ready));
        ready &= ready - 1;
        moved |= run_iteration(op, n, index, loop.base + bit, stuck);
      }
      if (loop.unfinished == 0 && loop.next == n.count) return outcome::done;
      if ((loop.unfinished & 1) != 0)
        return outcome::under_way; // the oldest is not finished: the window stays
      if (loop.unfinished != 0 && loop.next == n.count) return outcome::under_way;
    }
  }

  // Drops finished iterations from the front, and begins as many new ones.
  static void open_window(loop_state& loop, const graph::node& n, std::uint32_t most) {
    const int gone =
        loop.unfinished == 0 ? static_cast<int>(loop.next - loop.base) : std::countr_zero(loop.unfinished);
    loop.base += static_cast<std::uint32_t>(gone);
    loop.unfinished = gone >= 64 ? 0 : loop.unfinished >> gone;
    loop.in_flight = gone >= 64 ? 0 : loop.in_flight >> gone;
    std::uint32_t end = std::min(n.count, loop.base + most);
    if (n.ordered != 0) end = std::min(end, (loop.base / n.ordered + 1) * n.ordered);
    for (; loop.next < end; ++loop.next) {
      loop.unfinished |= std::uint64_t{1} << (loop.next - loop.base);
      loop.step[loop.next % loop_state::window] = 0;
    }
  }

  bool run_iteration(operation& op, const graph::node& n, std::uint8_t index, std::uint32_t iteration,
                     std::uint32_t& stuck) {
    loop_state& loop = op.run->loops[n.loop_index];
    std::uint8_t& step = loop.step[iteration % loop_state::window];
    const std::uint64_t bit = std::uint64_t{1} << (iteration - loop.base);
    bool moved = false;
    while (step < n.body_size) {
      if (n.pipelined && !passed_before(loop, iteration, step)) return moved;
      const graph::node& body = op.program->nodes[n.body + step];
      const std::uint32_t peer = peer_of(op, n, body, iteration);
      if (peer == findings::no_rank) break;
      if (skips(op, body, peer)) {
        ++step;
        continue;
      }
      switch (steps_.step(op, body, peer, {.node = index, .in_loop = true, .iteration = iteration})) {
      case outcome::done:
        ++step;
        moved = true;
        break;
      case outcome::whole:
        step = n.body_size;
        moved = true;
        break;
      case outcome::flying:
        loop.in_flight |= bit;
        return true;
      case outcome::again:
        ++stuck;
        return true;
      case outcome::repeat:
        while (op.program->nodes[n.body + step].what != graph::kind::save)
          --step;
        moved = true;
        break;
      case outcome::failed:
      case outcome::blocked:
      case outcome::held:
      case outcome::under_way: // no step's
        ++stuck;
        return moved;
      }
    }
    loop.unfinished &= ~bit;
    return true;
  }

  // My own row says so, or what the rows looked at tell.
  bool is_not_root(operation& op) {
    steps_.blocks.own_row(op);
    return op.run->found->not_root;
  }

  node_steps<T>& steps_;
  T& net_;
};

} // namespace weft::progress
