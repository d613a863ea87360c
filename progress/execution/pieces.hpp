#pragma once
#include "engine/memory/cells.hpp"
#include "engine/plan/plan.hpp"
#include "engine/transport/transport.hpp"

#include <algorithm>

namespace weft::progress {

// How what several may carry is cut, and how many pieces are taken at once.
struct cut {
  std::uint64_t piece;
  std::uint32_t at_once;
};

inline cut cut_of(const graph::plan& p, std::uint64_t bytes) {
  if (p.indirect.size.where == graph::found::by_rule) [[likely]]
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

} // namespace weft::progress
