// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/peers.hpp"
#include "engine/special_paths.hpp"
#include "progress/execution/node_steps.hpp"

#include <algorithm>
#include <bit>

namespace weft::progress {

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
      if (special::single_steps && n.single) [[likely]]
        result = only_step(op, n, {.node = index});
      else if (n.what != graph::kind::loop)
        result = steps_.step(op, n, p.me, {.node = index});
      else
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
