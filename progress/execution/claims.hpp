// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/operations/claims.hpp"
#include "engine/special_paths.hpp"
#include "progress/execution/pieces.hpp"

namespace weft::progress {

// Carries blocks between members of one host that several may carry: a CAS on the block's claim word, which
// lies on the destination's mailbox, decides which rank moves which piece. Counters on both ends say what is
// in place.
template <transport::transport T> class claims {
public:
  claims(reach<T>& members, operands<T>& blocks, lone_copies<T>& copies)
      : reach_(members), operands_(blocks), copies_(copies) {}

  // The block between two ends, of which I am one. Of a pair in place the two ends begin at different ends of
  // the block.
  outcome step(operation& op, const graph::node& n, graph::operations::claim::ends of, flight_tag tag) {
    const std::uint32_t me = op.program->me;
    if (n.way == graph::direction::self && only_mine(op)) return carry_own(op, tag);
    return carry(op, of.from, of.to, of.to == me, tag.iteration);
  }

  // Until every block on the host is in place: carries what is unclaimed, own neighbours first.
  outcome assist(operation& op) {
    return op.program->names == graph::naming::none ? assist_all(op) : assist_rows(op);
  }

  // Others may carry all that I receive in this operation, my own block included: my mailbox says so from now
  // on.
  void lend(operation& op) {
    channel& on = *op.channel;
    const std::uint32_t me = op.program->me;
    if (has_own_word(op) && op.program->sends(me, me))
      reach_.net.store(on.own.claim(engine::slot_of(op.seq), on.info.topology.local_index(me)),
                       engine::claim_word::make(op.seq, 0, 0));
    if (reach_.net.load(on.own.lent()) < op.seq) reach_.net.store(on.own.lent(), op.seq);
  }

  // Under OUT_MY a member is not held up by blocks of others; where one of them may be computing, it carries
  // for all when it has nothing better to do, and all that it may carry before it leaves. So what a
  // rank that computes has posted is in place when the last of the others has left. `again` if it carried
  // something, there may be more; `held`: there is, but not in this pass.
  outcome help_lenders(operation& op) {
    if (op.program->in == graph::sync::all && !all_entered(op)) return outcome::blocked;
    return assist(op);
  }

  // A line that changes only when a rank posts and goes away.
  bool any_rank_lends(operation& op) {
    channel& on = *op.channel;
    for (const std::uint32_t peer : on.info.topology.near())
      if (reach_.net.load(reach_.view(on, peer).lent()) >= op.seq) return true;
    return false;
  }

private:
  // Where no rows tell, the claim word of a member's own block speaks of the operation only if it lends:
  // no other rank carries that block otherwise.
  static bool has_own_word(const operation& op) {
    return op.program->lends() && op.program->names == graph::naming::none;
  }
  static bool only_mine(const operation& op) { return special::own_pieces && has_own_word(op) && !op.lent; }

  outcome carry_own(operation& op, flight_tag tag) {
    const outcome result = copies_.own_block(op, tag);
    if (result == outcome::done) op.run->own_pieces = op.program->chunks;
    return result;
  }

  // Carries what it gets of the block i -> j (in place: of the two blocks between i and j). The destination's
  // side takes pieces from the front, the source's side from the back.
  outcome carry(operation& op, std::uint32_t i, std::uint32_t j, bool from_front, std::uint32_t iteration) {
    if (!reach_.credit(op, i) || !reach_.credit(op, j)) return outcome::blocked;
    const graph::plan& p = *op.program;
    if (p.names != graph::naming::none) {
      named_block row;
      if (!operands_.row(op, p.pairs == graph::pattern::by_source ? i : j, row)) return outcome::blocked;
      if (row.named != (p.pairs == graph::pattern::by_source ? j : i)) return outcome::done;
    }
    const block there = operands_.find(op, i, j, iteration);
    const block back = p.in_place ? operands_.find(op, j, i, iteration) : block{};
    const std::uint32_t slot = engine::slot_of(op.seq), cells = engine::cells_of(op.seq);
    const engine::mailbox at = reach_.view(*op.channel, j);
    const shared_work both{at.claim(slot, op.channel->info.topology.local_index(i)),
                           std::max(there.bytes, back.bytes), 1, from_front};
    return share(reach_, op, both, [&](std::uint64_t begin, std::uint64_t end, std::uint32_t pieces) {
      // What cannot be carried is counted all the same: no rank must wait for it.
      const bool good =
          operands_.usable(op, i, j, iteration) && (!p.in_place || operands_.usable(op, j, i, iteration));
      if (good && p.in_place)
        swap(op, i, j, there, back, begin, end);
      else if (good)
        move(op, i, j, there, begin, end);
      reach_.raise(at.counts(cells).delivered, op.seq, pieces);
      // In place both are destinations, and what is read is what is written.
      if (!p.counts_consumed(i, j)) return;
      const engine::mailbox other = reach_.view(*op.channel, i);
      reach_.raise(p.in_place ? other.counts(cells).delivered : other.counts(cells).consumed, op.seq, pieces);
    });
  }

  void move(operation& op, std::uint32_t i, std::uint32_t j, const block& b, std::uint64_t begin,
            std::uint64_t end) {
    const std::uint64_t bytes = clipped(begin, end, b.bytes);
    if (bytes == 0) return;
    reach_.copy(reach_.base(*op.channel, j) + b.dst + begin, reach_.base(*op.channel, i) + b.src + begin,
                bytes);
    reach_.counts.bytes_copied.add(bytes);
  }

  // The two blocks change places, a little at a time: what the first line of a part says is in the cache when
  // its place is written.
  void swap(operation& op, std::uint32_t i, std::uint32_t j, const block& there, const block& back,
            std::uint64_t begin, std::uint64_t end) {
    std::byte* const at_i = reach_.base(*op.channel, i);
    std::byte* const at_j = reach_.base(*op.channel, j);
    std::array<std::byte, 4096> aside;
    for (; begin < end && begin < std::max(there.bytes, back.bytes); begin += aside.size()) {
      const std::uint64_t stop = std::min(end, begin + aside.size());
      const std::uint64_t out = clipped(begin, stop, there.bytes), in = clipped(begin, stop, back.bytes);
      reach_.copy(aside.data(), at_i + there.src + begin, out);
      reach_.copy(at_i + back.dst + begin, at_j + back.src + begin, in);
      reach_.copy(at_j + there.dst + begin, aside.data(), out);
      reach_.counts.bytes_copied.add(out + in);
    }
  }

  outcome assist_all(operation& op) {
    const graph::plan& p = *op.program;
    bool all_full = true;
    outcome result = outcome::blocked;
    for (std::uint32_t dj = 0; dj < p.members; ++dj) {
      const std::uint32_t j = (p.me + dj) % p.members;
      const std::uint32_t full = p.full(j);
      // Where nothing lands no rank counts, and the word goes on speaking of an older operation.
      if (full == 0 || reach_.reached(counts(op, j).delivered, op, full)) continue;
      all_full = false;
      if (!may_touch(op, j)) continue;
      for (std::uint32_t di = 0; di < p.members; ++di) {
        const std::uint32_t i = (j + di) % p.members;
        if (!p.sends(i, j) || !may_touch(op, i)) continue;
        if (p.in_place && i == j) continue;
        merge(result, p.in_place ? help(op, std::min(i, j), std::max(i, j)) : help(op, i, j));
      }
    }
    return all_full ? outcome::done : result;
  }

  // Every member's row describes one block at most; a counter of its own says when that one is done.
  outcome assist_rows(operation& op) {
    const graph::plan& p = *op.program;
    const bool by_source = p.pairs == graph::pattern::by_source;
    bool all_done = true;
    outcome result = outcome::blocked;
    for (std::uint32_t d = 0; d < p.members; ++d) {
      const std::uint32_t owner = (p.me + d) % p.members;
      engine::mailbox::count_line& counted = counts(op, owner);
      if (reach_.reached(by_source ? counted.consumed : counted.delivered, op, p.chunks)) continue;
      named_block row;
      const bool known = operands_.row(op, owner, row);
      const std::uint32_t other = row.named;
      if (known && other == findings::no_rank) continue; // an empty block
      all_done = false;
      if (known && may_touch(op, other))
        merge(result, help(op, by_source ? owner : other, by_source ? other : owner));
    }
    return all_done ? outcome::done : result;
  }

  bool all_entered(operation& op) {
    for (std::uint32_t member = 0; member < op.program->members; ++member)
      if (!reach_.entered(op, member)) return false;
    return true;
  }

  // Under IN_ALL all ranks have entered before one assists.
  bool may_touch(operation& op, std::uint32_t member) {
    return op.program->in != graph::sync::my || reach_.entered(op, member);
  }

  engine::mailbox::count_line& counts(operation& op, std::uint32_t member) {
    return reach_.view(*op.channel, member).counts(engine::cells_of(op.seq));
  }

  // That something was carried says more than that something could be.
  static void merge(outcome& all, outcome one) {
    if (one == outcome::again || (one == outcome::held && all == outcome::blocked)) all = one;
  }

  // `again`: carried a piece.
  outcome help(operation& op, std::uint32_t i, std::uint32_t j) {
    if (!reach_.credit(op, i) || !reach_.credit(op, j)) return outcome::blocked;
    const std::uint32_t slot = engine::slot_of(op.seq);
    engine::word& claimed = reach_.view(*op.channel, j).claim(slot, op.channel->info.topology.local_index(i));
    const std::uint64_t word = reach_.net.load(claimed);
    if (i == j && has_own_word(op) && !engine::claim_word::speaks_of(word, op.seq)) return outcome::blocked;
    const auto state = engine::claim_word::read(word, op.seq);
    if (state.stale || state.front + state.back >= op.program->chunks) return outcome::blocked;
    const outcome result = carry(op, i, j, true, 0);
    if (result == outcome::blocked || result == outcome::held) return result;
    reach_.counts.chunks_assisted.add();
    return outcome::again;
  }

  reach<T>& reach_;
  operands<T>& operands_;
  lone_copies<T>& copies_;
};

} // namespace weft::progress
