// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/execution/operands.hpp"
#include "progress/execution/reach.hpp"

#include <algorithm>

namespace weft::progress {

// How what several may carry is cut, and how many pieces are taken at once.
struct cut {
  std::uint64_t piece;
  std::uint32_t at_once;
};

inline cut cut_of(const graph::plan& p, std::uint64_t bytes) {
  if (!p.places[graph::in_source].size) [[likely]]
    return {p.chunk, 1};
  constexpr std::uint64_t line = 64;
  const std::uint64_t piece = ((bytes + p.chunks - 1) / p.chunks + line - 1) / line * line;
  if (bytes <= p.whole_block) return {piece, p.chunks};
  const std::uint64_t wanted = graph::chunk_size(bytes, p.whole_block) / piece;
  return {piece, static_cast<std::uint32_t>(std::max<std::uint64_t>(1, wanted))};
}

// What a block has of the bytes [begin, end).
inline std::uint64_t clipped(std::uint64_t begin, std::uint64_t end, std::uint64_t bytes) {
  return begin >= bytes ? 0 : std::min(end, bytes) - begin;
}

// Pieces that are mine to carry: none if others have them all, or the word speaks of a newer operation.
struct claimed_pieces {
  std::uint32_t first = 0, count = 0, left = 0;
};

template <transport::transport T>
claimed_pieces claim_pieces(T& net, engine::word& claimed, engine::sequence n, std::uint32_t all,
                            std::uint32_t at_once, bool from_front) {
  std::uint64_t seen = net.load(claimed);
  for (;;) {
    const auto state = engine::claim_word::read(seen, n);
    const std::uint32_t gone = state.front + state.back;
    if (state.stale || gone >= all) return {};
    const std::uint32_t count = std::min(at_once, all - gone);
    const std::uint32_t first = from_front ? state.front : all - state.back - count;
    const std::uint32_t front = state.front + (from_front ? count : 0);
    const std::uint32_t rear = state.back + (from_front ? 0 : count);
    if (net.cas(claimed, seen, engine::claim_word::make(n, front, rear)))
      return {first, count, all - gone - count};
  }
}

// A member's turn at work that several members of a host may do, whatever it is: `carry` does the bytes
// [begin, end) of it and counts that so many pieces are done. Which pieces are whose, a CAS on the claim word
// decides. `times`: how often as many bytes are moved as the work is long. Done when nothing is left to
// claim.
struct shared_work {
  engine::word& claimed;
  std::uint64_t bytes;
  std::size_t times = 1;
  bool from_front = true;
};
template <transport::transport T, class Carry>
outcome share(reach<T>& members, const operation& op, const shared_work& work, Carry&& carry) {
  const graph::plan& p = *op.program;
  const cut c = cut_of(p, work.bytes);
  const std::uint64_t at_once = std::min(c.at_once * c.piece, work.bytes) * work.times;
  if (!members.carries.allows(at_once)) return outcome::held;
  const auto [first, taken, left] =
      claim_pieces(members.net, work.claimed, op.seq, p.chunks, c.at_once, work.from_front);
  if (taken == 0) return outcome::done;
  members.carries.take(at_once);
  carry(first * c.piece, (first + taken) * c.piece, taken);
  members.counts.chunks_claimed.add();
  members.wake_near();
  return left == 0 ? outcome::done : outcome::again;
}

// Copies that a rank makes alone, within the memory of its host. Of a large one each pass makes as much as
// the quota has left; until it is through no other large one of its operation begins.
template <transport::transport T> class lone_copies {
public:
  lone_copies(reach<T>& members, operands<T>& blocks) : reach_(members), operands_(blocks) {}

  // `held` and `again` until all is in place; at once where it must not be cut.
  outcome carry(operation& op, flight_tag tag, std::byte* to, const std::byte* from, std::uint64_t bytes,
                bool may_be_cut = true) {
    if (bytes > quota::always && may_be_cut)
      return in_pieces(op.run->begun, tag, bytes,
                       [=, this](std::uint64_t at, std::uint64_t n) { reach_.copy(to + at, from + at, n); });
    reach_.copy(to, from, bytes);
    reach_.counts.bytes_copied.add(bytes);
    return outcome::done;
  }

  // Whatever else is done with so many bytes: `move` gets them in pieces, each from an offset that is a
  // multiple of 64.
  template <class Move>
  [[gnu::noinline]] outcome in_pieces(begun_copy& begun, flight_tag tag, std::uint64_t bytes, Move move) {
    if (!reach_.carries.allows(bytes) || (begun.name != 0 && begun.name != name(tag))) return outcome::held;
    const std::uint64_t most = std::max(reach_.carries.left() & ~std::uint64_t{63}, quota::always);
    const std::uint64_t piece = std::min(most, bytes - begun.bytes);
    reach_.carries.take(piece);
    move(begun.bytes, piece);
    begun = {name(tag), begun.bytes + piece};
    if (begun.bytes < bytes) return outcome::again;
    reach_.counts.bytes_copied.add(bytes);
    begun = {};
    return outcome::done;
  }

  // From my source to my destination, wherever rows say that they are; they may be one place.
  outcome own_block(operation& op, flight_tag tag) {
    const std::uint32_t me = op.program->me;
    if (op.program->indirect().by_own_ends()) {
      const std::byte* const from = operands_.own_end(op, me, true);
      std::byte* const to = operands_.own_end(op, me, false);
      if (from == nullptr || to == nullptr || to == from) return outcome::done;
      return carry(op, tag, to, from, op.program->block());
    }
    const block b = operands_.find(op, me, me, 0);
    if (!operands_.usable(op, me, me, 0) || b.bytes == 0 || b.dst == b.src) return outcome::done;
    std::byte* const segment = reach_.net.segment();
    return carry(op, tag, segment + b.dst, segment + b.src, b.bytes);
  }

private:
  // Whose copy it is: of a top node, or of an iteration of one.
  static std::uint64_t name(flight_tag tag) { return (std::uint64_t{tag.node} + 1) << 32 | tag.iteration; }

  reach<T>& reach_;
  operands<T>& operands_;
};

} // namespace weft::progress
