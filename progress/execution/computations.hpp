// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/linked_items.hpp"
#include "engine/operations/computations.hpp"
#include "engine/plan/task.hpp"
#include "engine/reductions/vector_reduction.hpp"
#include "progress/execution/flights.hpp"
#include "progress/execution/pieces.hpp"
#include "progress/execution/reach.hpp"
#include "progress/execution/task_work.hpp"
#include "progress/execution/user_code.hpp"

#include <algorithm>
#include <array>
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
    const bool timed = !whole && n.count < std::size(counted);
    const auto begin = timed ? reach_.net.now() : std::chrono::nanoseconds{};
    const bool through = op.at.task->run(*op.at.task, w);
    if (timed) count(n.count, reach_.net.now() - begin);
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

  static constexpr counter statistics::*counted[] = {&statistics::stage_0_ns, &statistics::stage_1_ns,
                                                     &statistics::stage_2_ns, &statistics::stage_3_ns};
  void count(std::uint32_t stage, std::chrono::nanoseconds took) {
    if (stage < std::size(counted))
      (reach_.counts.*counted[stage]).add(static_cast<std::uint64_t>(took.count()));
  }

  static constexpr std::uint64_t everything = ~std::uint64_t{0};
  static constexpr std::uint64_t at_once = 16 * 1024; // bytes, of code whose cost is not known

  reach<T>& reach_;
  flight_pool<T>& flights_;
  engine::fifo<flight> waiting_;
};

// Combines the blocks of the members of a host, a work that they share.
//
// No piece is combined before all members have entered. Until then the root of a reduce claims pieces for
// itself, one after the other, and keeps aside what the others have of them, member by member: so each leaves
// when the root has all of its vector. What the root has claimed it combines itself, from what it has kept
// and from where the rest lies. Its memory for that is taken when it first waits in this way.
template <transport::transport T> class reductions {
  using addresses = weft::reductions::addresses;

public:
  explicit reductions(reach<T>& members) : reach_(members) {}

  // A member lends the words: the claim word of its block to itself, and its count of what has delivered, in
  // pieces. It is the root, or the host's first member where all leave together. A member that sees all
  // pieces counted sees the result in every destination; orders as in in_place.hpp.
  outcome share_host(operation& op) {
    if (!reach_.credit(op, lender(op))) return outcome::blocked;
    if (is_combined(op)) return outcome::done;
    const graph::topology& g = op.channel->info.topology;
    const shared_work whole{claimed(op), op.program->block(), g.locals()};
    const outcome result =
        share(reach_, op, whole, [&](std::uint64_t begin, std::uint64_t end, std::uint32_t pieces) {
          combine_host(op, begin, std::min(end, op.program->block()), nullptr);
          reach_.raise(counted(op), op.seq, pieces);
        });
    if (result != outcome::done) return result;
    return is_combined(op) ? outcome::done : outcome::blocked;
  }

  // By the root, of a member that has entered.
  outcome share_or_keep(operation& op, std::uint32_t member) {
    if (!reach_.credit(op, lender(op))) return outcome::blocked;
    if (is_combined(op)) return outcome::done;
    if (all_entered(op)) return share_rest(op);
    kept_pieces* const kept = kept_by(op);
    const graph::plan& p = *op.program;
    const std::uint32_t k = op.channel->info.topology.local_index(member);
    std::uint64_t& had = kept->of(k);
    if (had == p.chunks) return outcome::done;
    if (!reach_.carries.allows(p.chunk)) return outcome::held;
    if (!op.run->room.reserve(op.channel->info.topology.locals() * p.block())) return outcome::blocked;
    if (had == kept->claimed && !claim_next(op, *kept)) return outcome::blocked;
    const std::uint64_t begin = had * p.chunk, bytes = clipped(begin, begin + p.chunk, p.block());
    reach_.copy(place_of(op, k) + begin, source(op, k) + begin, bytes);
    reach_.counts.bytes_copied.add(bytes);
    reach_.carries.take(bytes);
    return ++had == p.chunks ? outcome::done : outcome::again;
  }
  outcome share_rest(operation& op) {
    if (!all_entered(op)) return outcome::blocked;
    const graph::plan& p = *op.program;
    kept_pieces* const kept = kept_by(op);
    if (kept->combined == kept->claimed) return share_host(op);
    if (!reach_.carries.allows(p.chunk)) return outcome::held;
    const std::uint64_t begin = kept->combined++ * p.chunk, end = std::min(begin + p.chunk, p.block());
    combine_host(op, begin, end, kept);
    reach_.carries.take((end - begin) * op.channel->info.topology.locals());
    reach_.raise(counted(op), op.seq, 1);
    reach_.wake_near();
    return outcome::again;
  }

  // The root has nothing of its own left to do: other members carry the rest.
  bool waits_for_others(operation& op) {
    return all_entered(op) && kept_by(op)->combined == kept_by(op)->claimed;
  }

  // By another member, until the root has counted its vector as read or all is combined.
  outcome share_until_read(operation& op, const graph::node& n) {
    const std::uint32_t cells = engine::cells_of(op.seq, n.phase);
    if (reach_.reached(op.channel->own.counts(cells).consumed, op, n.count)) return outcome::done;
    return all_entered(op) ? share_host(op) : outcome::blocked;
  }

private:
  // What the root notes, in the scratch behind the table of addresses. Of each member that it keeps pieces of
  // these are the first ones.
  struct kept_pieces {
    std::uint64_t claimed, combined; // by the root
    // A word behind them for each member, by its number on the host: how many are kept.
    std::uint64_t& of(std::uint32_t local) { return reinterpret_cast<std::uint64_t*>(this + 1)[local]; }
  };
  // Of an execution: its notes have begun, all addresses are known.
  enum known : std::uint64_t { nothing, notes, all };

  static std::uint32_t lender(const operation& op) {
    return graph::operations::reduce::lender(*op.program, op.channel->info.topology);
  }
  engine::mailbox at_lender(operation& op) { return reach_.view(*op.channel, lender(op)); }
  engine::word& claimed(operation& op) {
    return at_lender(op).claim(engine::slot_of(op.seq), op.channel->info.topology.local_index(lender(op)));
  }
  engine::word& counted(operation& op) { return at_lender(op).counts(engine::cells_of(op.seq)).delivered; }
  bool is_combined(operation& op) { return reach_.reached(counted(op), op, op.program->chunks); }

  kept_pieces* kept_by(operation& op) {
    const graph::plan& p = *op.program;
    auto* const kept = reinterpret_cast<kept_pieces*>(op.run->scratch.data() + p.members * sizeof(addresses));
    if (op.run->computed != nothing) return kept;
    *kept = {};
    for (std::uint32_t k = 0; k < p.members; ++k)
      kept->of(k) = 0;
    op.run->computed = notes;
    return kept;
  }
  // Then their addresses are in my table.
  bool all_entered(operation& op) {
    if (op.run->computed == all) return true;
    channel& on = *op.channel;
    const std::uint32_t cells = engine::cells_of(op.seq);
    for (const std::uint32_t near : on.info.topology.near())
      if (reach_.net.load(reach_.view(on, near).head(cells).stamp) < op.seq) return false;
    for (const std::uint32_t near : on.info.topology.near())
      reach_.copy(&table(op)[near], reach_.view(on, near).payload(cells, sizeof(addresses)),
                  sizeof(addresses));
    table(op)[op.program->me] = {op.at.dst, op.at.src};
    kept_by(op);
    op.run->computed = all;
    return true;
  }

  // The next piece for the root, unless another member has begun: then all have entered.
  bool claim_next(operation& op, kept_pieces& kept) {
    std::uint64_t seen = reach_.net.load(claimed(op));
    const auto state = engine::claim_word::read(seen, op.seq);
    if (state.stale || state.front != kept.claimed || state.back != 0) return false;
    const auto front = static_cast<std::uint32_t>(kept.claimed + 1);
    if (!reach_.net.cas(claimed(op), seen, engine::claim_word::make(op.seq, front, 0))) return false;
    ++kept.claimed;
    return true;
  }
  std::byte* place_of(operation& op, std::uint32_t local) {
    return op.run->room.data() + local * op.program->block();
  }

  // The bytes [begin, end) of all sources, a little at a time: so what is combined stays in the cache until
  // it has gone to all destinations. `kept`: they are a piece of the root's.
  void combine_host(operation& op, std::uint64_t begin, std::uint64_t end, kept_pieces* kept) {
    const std::uint32_t locals = op.channel->info.topology.locals();
    const std::uint64_t piece = begin / op.program->chunk;
    const auto from = [&](std::uint32_t k) {
      return (kept != nullptr && kept->of(k) > piece ? place_of(op, k) : source(op, k)) + begin;
    };
    const graph::task& t = *op.at.task;
    using share = graph::task::share;
    alignas(64) std::array<std::byte, 4096> result, before;
    for (; begin < end; begin += result.size()) {
      const std::uint64_t bytes = std::min<std::uint64_t>(result.size(), end - begin);
      const auto give = [&](std::uint32_t k, const std::byte* what) {
        if (op.program->sends(op.program->me, member(op, k)))
          reach_.copy(destination(op, k) + begin, what, bytes);
      };
      reach_.copy(result.data(), from(0), bytes);
      if (t.gets == share::up_to_own) give(0, result.data());
      for (std::uint32_t k = 1; k < locals; ++k) {
        if (t.gets == share::before_own) reach_.copy(before.data(), result.data(), bytes);
        t.combine(t, result.data(), from(k), bytes); // read before its place may become a result
        if (t.gets != share::all) give(k, t.gets == share::up_to_own ? result.data() : before.data());
      }
      for (std::uint32_t k = 0; k < locals && t.gets == share::all; ++k)
        give(k, result.data());
      reach_.counts.bytes_copied.add(bytes * locals);
    }
  }

  static std::uint32_t member(const operation& op, std::uint32_t local) {
    return op.channel->info.topology.local(local);
  }
  static addresses* table(const operation& op) {
    return reinterpret_cast<addresses*>(op.run->scratch.data());
  }
  const std::byte* source(operation& op, std::uint32_t local) {
    const std::uint32_t m = member(op, local);
    return reach_.base(*op.channel, m) + table(op)[m].src;
  }
  std::byte* destination(operation& op, std::uint32_t local) {
    const std::uint32_t m = member(op, local);
    return reach_.base(*op.channel, m) + table(op)[m].dst;
  }

  reach<T>& reach_;
};

} // namespace weft::progress
