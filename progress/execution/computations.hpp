// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/linked_items.hpp"
#include "engine/plan/task.hpp"
#include "progress/execution/flights.hpp"
#include "progress/execution/reach.hpp"
#include "progress/execution/task_work.hpp"
#include "progress/execution/user_code.hpp"

#include <chrono>
#include <iterator>
#include <utility>

namespace weft::progress {

// Runs the tasks of operations, stage by stage. What the library computes itself is done in a pass, as much
// of it as the quota has left. Code of users waits in a list: a thread that drives takes one, lets go of the
// right to drive, runs a piece of it, and puts it back when it has the right again, until it is through; it
// completes like a request to the transport. Under progress ownership, but for run().
template <transport::transport T> class computations {
public:
  computations(reach<T>& members, flight_pool<T>& flights) : reach_(members), flights_(flights) {}

  outcome step(operation& op, const graph::node& n, flight_tag tag) {
    if (op.at.task->user && (op.at.task->plain >> n.count & 1) == 0)
      return flights_.request(op, op.program->me, tag, [this](flight& f) {
        waiting_.push(f);
        return transport::started::on_its_way();
      });
    const bool whole = n.quick || op.light || posting;
    if (!whole && reach_.carries.spent()) return outcome::held;
    graph::work w = work_of(op, reach_.net, n.count);
    w.budget = whole ? everything : std::max(reach_.carries.left(), quota::always);
    if (!whole) reach_.carries.take(w.budget);
    const auto begin = whole ? std::chrono::nanoseconds{} : reach_.net.now();
    const bool through = op.at.task->run(*op.at.task, w);
    if (!whole) count(n.count, reach_.net.now() - begin);
    op.run->computed = through ? 0 : w.done;
    return through ? outcome::done : outcome::again;
  }

  bool posting = false; // what is computed now is computed by a post, which comes but once

  // Is there code of users to run?
  bool waiting() const noexcept { return !waiting_.empty(); }
  flight& take() noexcept { return waiting_.pop(); }
  void drop_all() noexcept {
    while (waiting())
      take();
  }

  // A piece of the stage that it has come to.
  static graph::work piece_of(const flight& f, T& net) {
    graph::work w = work_of(*f.op, net, node_of(f).count);
    w.budget = at_once;
    return w;
  }
  // With nothing held. True when the stage is through; false also if it threw.
  static bool run(operation& op, graph::work& w) noexcept {
    const auto lent = [&](const std::byte* memory, std::uint64_t bytes) -> lent_memory::piece {
      return {static_cast<std::uint64_t>(memory - w.segment), bytes};
    };
    const in_user_code here({w.threads[w.me],
                             w.segment,
                             {lent(w.room, op.run->room.size()), lent(w.scratch, op.run->scratch.size())}});
    try {
      return op.at.task->run(*op.at.task, w);
    } catch (...) {
      op.thrown = std::current_exception();
      return false;
    }
  }
  void ran(flight& f, const graph::work& w, bool through, std::chrono::nanoseconds took) {
    operation& op = *f.op;
    count(w.stage, took);
    op.run->computed = through ? 0 : w.done;
    const bool threw = op.thrown != nullptr;
    if (!through && !threw && op.status == 0) return waiting_.push(f);
    f.done(&f, threw ? status_user_code : 0);
  }

private:
  // In a loop, the step that its iteration has come to.
  static const graph::node& node_of(const flight& f) {
    const graph::plan& p = *f.op->program;
    const graph::node& top = p.nodes[f.tag.node];
    if (!f.tag.in_loop) return top;
    return p.nodes[top.body + f.op->run->loops[top.loop_index].step[f.tag.iteration % loop_state::window]];
  }

  void count(std::uint32_t stage, std::chrono::nanoseconds took) {
    static constexpr counter statistics::*stages[] = {&statistics::stage_0_ns, &statistics::stage_1_ns,
                                                      &statistics::stage_2_ns, &statistics::stage_3_ns};
    if (stage < std::size(stages))
      (reach_.counts.*stages[stage]).add(static_cast<std::uint64_t>(took.count()));
  }

  static constexpr std::uint64_t everything = ~std::uint64_t{0};
  static constexpr std::uint64_t at_once = 16 * 1024; // bytes, of code whose cost is not known

  reach<T>& reach_;
  flight_pool<T>& flights_;
  engine::fifo<flight> waiting_;
};

} // namespace weft::progress
