// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/execution/operands.hpp"
#include "progress/execution/pieces.hpp"

#include <algorithm>

namespace weft::progress {

// Blocks that move within the memory that they come from, beyond one host: piece by piece. What the peer has
// for me is taken aside; what I have in that place goes (I put it, or its destination takes it aside too);
// then the place is free and gets what was taken aside. There is one scratch: an iteration keeps it for all
// pieces of its block, while others may still wait for their peers. It waits for nothing but transfers then
// (in a chain, for the next one to take its piece), so it gives the scratch back.
template <transport::transport T> class in_place_steps {
public:
  in_place_steps(reach<T>& members, operands<T>& blocks, flight_pool<T>& flights)
      : reach_(members), operands_(blocks), flights_(flights) {}

  // The present piece of a block.
  static block piece_of(const operation& op, const block& whole) {
    const std::uint64_t begin = op.run->found->piece * graph::bounce_bytes;
    if (begin >= whole.bytes) return {};
    return {whole.src + begin, whole.dst + begin, std::min(graph::bounce_bytes, whole.bytes - begin)};
  }

  // What must have been taken of my block before all of it may be overwritten; 0 if it stays where it is.
  std::uint64_t outgoing_pieces(operation& op) {
    const named_block& row = operands_.own_row(op);
    if (row.named == op.program->me || row.named == findings::no_rank || op.run->found->rotated.mine)
      return 0;
    return (row.what.bytes + graph::bounce_bytes - 1) / graph::bounce_bytes;
  }

  // So many pieces have been taken of my block, or it is not the one that its target takes.
  bool has_gone(operation& op, std::uint64_t pieces) {
    engine::word& taken = reach_.own_counts(op).consumed;
    if (pieces == 0 || reach_.reached(taken, op, pieces)) return true;
    return target_is_done(op) && (reach_.reached(taken, op, pieces) || passed_over(op));
  }

  // Two blocks change places, or neither moves.
  bool stuck(operation& op, std::uint32_t peer, std::uint32_t iteration) {
    const std::uint32_t me = op.program->me;
    if (op.program->names != graph::naming::none) return false;
    return !operands_.usable(op, peer, me, iteration) || !operands_.usable(op, me, peer, iteration);
  }

  outcome save_piece(operation& op, std::uint32_t peer, flight_tag tag) {
    findings& found = *op.run->found;
    if (found.moving != findings::no_rank && found.moving != tag.iteration) return outcome::blocked;
    found.moving = tag.iteration;
    if (stuck(op, peer, tag.iteration)) return outcome::done;
    const block b = piece_of(op, operands_.find(op, peer, op.program->me, tag.iteration));
    if (!operands_.usable(op, peer, op.program->me, tag.iteration) || b.bytes == 0) return outcome::done;
    std::byte* const scratch = found.scratch.get();
    if (std::byte* const from = reach_.base(*op.channel, peer)) {
      reach_.copy(scratch, from + b.src, b.bytes);
      return outcome::done;
    }
    return flights_.request(op, peer, tag, [&](flight& f) {
      reach_.counts.bytes_got.add(b.bytes);
      return reach_.net.get(op.channel->info.world[peer], scratch, b.src, b.bytes, f);
    });
  }

  outcome restore(operation& op, std::uint32_t peer, std::uint32_t iteration) {
    findings& found = *op.run->found;
    const std::uint32_t me = op.program->me;
    const bool moves_on = op.program->names != graph::naming::none;
    if (moves_on) {
      const std::uint64_t gone = std::min(found.piece + 1, outgoing_pieces(op));
      if (!has_gone(op, gone)) return outcome::blocked;
    }
    const block in = operands_.find(op, peer, me, iteration);
    const block b = piece_of(op, in);
    if (b.bytes != 0 && operands_.usable(op, peer, me, iteration))
      reach_.copy(reach_.net.segment() + b.dst, found.scratch.get(), b.bytes);
    const std::uint64_t out = moves_on ? 0 : operands_.find(op, me, peer, iteration).bytes;
    const bool more = ++found.piece * graph::bounce_bytes < std::max(in.bytes, out);
    if (more && !stuck(op, peer, iteration)) return outcome::repeat;
    found.piece = 0;
    found.moving = findings::no_rank;
    return outcome::done;
  }

private:
  // What the target does last it does when it has counted all that it takes. Asked where all rows can be
  // known, on one host.
  [[gnu::noinline]] bool target_is_done(operation& op) {
    if (!op.channel->info.topology.one_host()) return false;
    const engine::mailbox theirs = reach_.view(*op.channel, operands_.own_row(op).named);
    return reach_.net.load(theirs.retired()) >= op.seq ||
           reach_.net.load(theirs.counts(engine::cells_of(op.seq)).stage_out) >=
               engine::stage_word::make(op.seq, 1);
  }

  // It took the block of another that names it too: no permutation.
  [[gnu::cold, gnu::noinline]] bool passed_over(operation& op) {
    const std::uint32_t me = op.program->me, target = operands_.own_row(op).named;
    for (std::uint32_t other = 0; other < op.program->members; ++other) {
      named_block row;
      if (other == me || !operands_.row(op, other, row) || row.named != target) continue;
      operands_.named_twice(op);
      return true;
    }
    return false;
  }

  reach<T>& reach_;
  operands<T>& operands_;
  flight_pool<T>& flights_;
};

// A permutation in place, where it may be moved by any rank that has entered: a cycle whose members are all
// on one host is rotated as a whole, piece after piece, by any rank of it that is there. So no rank of it
// waits for one that has not entered, or that computes, and a piece moves within one step of one
// member: L + 1 copies for L members, no block waits in any rank's scratch.
//
// The protocol. Each member finds its cycle by following the rows, its own first. All find the same one: a
// row may be read from the first entry on (the plan waits for all entries under IN_ALL) and does not change
// before its owner leaves, and the rank that leaves has published it before; see operands::row. The lowest
// member of the cycle lends two words of its mailbox: the claim word that no other rank has a use for, that
// of its block to itself, and its count of what was delivered. A CAS on the claim word gives the next pieces
// to one member. It moves them, and then adds them to the count. A rank that sees all pieces counted knows
// that the cycle is rotated.
//
// Orders. The claim orders no data: pieces are disjoint in all blocks, and what a piece moves was written
// before the first entry (or, under IN_ALL, before the entry that the gate has read with acquire). The count
// is raised by acquire-release CAS after the copies, and read with acquire: a rank that sees it full sees the
// copies of all that have raised it. A member that comes when all others have left, and their words speak of
// newer operations already, reads that as full: the lowest member has retired this one, so its cycle was
// done.
template <transport::transport T> class rotation_steps {
public:
  rotation_steps(reach<T>& members, operands<T>& blocks) : reach_(members), operands_(blocks) {}

  // My cycle first; then the others of the host, if those are asked for too.
  [[gnu::noinline]] outcome step(operation& op, const graph::node& n) {
    cycle& it = op.run->found->rotated;
    const graph::plan& p = *op.program;
    const std::uint32_t last = n.peer == graph::peer_rule::group ? p.members : 1;
    for (;;) {
      if (it.links.empty() && !find_next(op, last)) return outcome::done;
      const outcome result = rotate(op);
      if (result != outcome::done) return result;
      it.links.clear();
    }
  }

private:
  bool find_next(operation& op, std::uint32_t last) {
    cycle& it = op.run->found->rotated;
    for (; it.looked < last; ++it.looked) {
      const std::uint32_t member = (op.program->me + it.looked) % op.program->members;
      if (it.seen[member]) continue;
      const bool whole = follow(op, member);
      if (member == op.program->me) mine(op, whole);
      if (whole) return true;
      it.links.clear();
    }
    return false;
  }

  // True if the rows lead back to where they begin, and not beyond my host.
  bool follow(operation& op, std::uint32_t first) {
    cycle& it = op.run->found->rotated;
    const graph::topology& g = op.channel->info.topology;
    std::uint32_t at = first;
    do {
      named_block row;
      if (it.links.size() == g.locals() || !operands_.row(op, at, row)) return false;
      it.links.push_back({at, true, row.what.src, row.what.bytes});
      if (row.named == findings::no_rank || !g.is_near(row.named)) return false;
      at = row.named;
    } while (at != first);
    for (const cycle::link& l : it.links)
      it.seen[l.member] = true;
    return true;
  }

  // A rank that is on no whole cycle of the host goes on between hosts, or the permutation is none.
  void mine(operation& op, bool whole) {
    findings& found = *op.run->found;
    found.rotated.mine = whole;
    if (whole)
      found.naming = findings::no_rank;
    else if (op.channel->info.topology.one_host())
      blame(op);
  }

  // Whose own row is wrong has said so; and the rank that is named by no rank says it.
  [[gnu::cold, gnu::noinline]] void blame(operation& op) {
    for (const std::uint32_t peer : op.channel->info.topology.near()) {
      named_block row;
      if (!operands_.row(op, peer, row) || row.named == op.program->me) return;
    }
    operands_.left_out(op);
  }

  outcome rotate(operation& op) {
    const graph::plan& p = *op.program;
    const std::vector<cycle::link>& links = op.run->found->rotated.links;
    if (links.size() == 1) return outcome::done;
    std::uint32_t lowest = links.front().member;
    std::uint64_t bytes = 0;
    for (const cycle::link& l : links) {
      lowest = std::min(lowest, l.member);
      bytes = std::max(bytes, l.bytes);
    }
    if (!reach_.credit(op, lowest)) return outcome::blocked;
    const engine::mailbox at = reach_.view(*op.channel, lowest);
    const std::uint32_t slot = engine::slot_of(op.seq);
    engine::word& counted = at.counts(engine::cells_of(op.seq)).delivered;
    if (reach_.reached(counted, op, p.chunks)) return outcome::done;
    engine::word& claimed = at.claim(slot, op.channel->info.topology.local_index(lowest));
    const auto move_pieces = [&](std::uint64_t begin, std::uint64_t end, std::uint32_t pieces) {
      move(op, begin, std::min(bytes, end));
      reach_.raise(counted, op.seq, pieces);
    };
    const outcome result = share(reach_, op, {claimed, bytes, links.size()}, move_pieces);
    if (result != outcome::done) return result;
    return reach_.reached(counted, op, p.chunks) ? outcome::done : outcome::blocked;
  }

  // These bytes of all blocks, a little at a time, so that they are in the cache when they are written: the
  // last block's aside, each other one to its next, and the last's to the first.
  void move(operation& op, std::uint64_t begin, std::uint64_t end) {
    std::vector<cycle::link>& links = op.run->found->rotated.links;
    if (op.program->by_rows) look_at_places(op, links);
    std::byte* const aside = op.run->found->scratch.get();
    const cycle::link& last = links.back();
    for (; begin < end; begin += part) {
      const std::uint64_t stop = std::min(end, begin + part);
      std::uint64_t moved = of(last, begin, stop);
      reach_.copy(aside, at(op, last, begin), moved);
      for (std::size_t k = links.size() - 1; k != 0; --k) {
        const std::uint64_t bytes = of(links[k - 1], begin, stop);
        reach_.copy(at(op, links[k], begin), at(op, links[k - 1], begin), bytes);
        moved += bytes;
      }
      reach_.copy(at(op, links.front(), begin), aside, of(last, begin, stop));
      reach_.counts.bytes_copied.add(moved);
    }
  }

  void look_at_places(operation& op, std::vector<cycle::link>& links) {
    for (std::size_t k = 0; k < links.size(); ++k)
      links[k].moves = operands_.usable(op, links[k].member, links[(k + 1) % links.size()].member, 0);
  }

  std::byte* at(operation& op, const cycle::link& l, std::uint64_t begin) {
    return reach_.base(*op.channel, l.member) + l.place + begin;
  }
  static std::uint64_t of(const cycle::link& l, std::uint64_t begin, std::uint64_t stop) {
    return l.moves ? clipped(begin, stop, l.bytes) : 0;
  }

  static constexpr std::uint64_t part = 4096;
  reach<T>& reach_;
  operands<T>& operands_;
};

} // namespace weft::progress
