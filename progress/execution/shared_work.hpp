// SPDX-License-Identifier: BSD-3-Clause
#pragma once
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

} // namespace weft::progress
