// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/execution/operands.hpp"

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
    if (row.named == op.program->me || row.named == findings::nobody || op.run->found->rotated.mine) return 0;
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
    if (found.moving != findings::nobody && found.moving != tag.iteration) return outcome::blocked;
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
    found.moving = findings::nobody;
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

} // namespace weft::progress
