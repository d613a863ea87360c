// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/execution/operands.hpp"

#include <algorithm>

namespace weft::progress {

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

  // From my source to my destination, wherever rows say that they are.
  outcome own_block(operation& op, flight_tag tag) {
    const std::uint32_t me = op.program->me;
    const block b = operands_.find(op, me, me, 0);
    if (!operands_.usable(op, me, me, 0) || b.bytes == 0) return outcome::done;
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
