#pragma once
#include "progress/execution/operands.hpp"

#include <algorithm>

namespace weft::progress {

// Copies that a rank makes alone, within the memory of its node. Of a large one each pass makes as much as
// the quota has left; until it is through no other large one of its operation begins.
template <transport::transport T> class lone_copies {
public:
  lone_copies(reach<T>& members, operands<T>& blocks) : reach_(members), operands_(blocks) {}

  // `held` and `again` until all is in place; at once where it must not be cut.
  outcome carry(operation& op, flight_tag tag, std::byte* to, const std::byte* from, std::uint64_t bytes,
                bool may_be_cut = true) {
    if (bytes > quota::always && may_be_cut) return carry_piece(op.run->begun, name(tag), to, from, bytes);
    reach_.copy(to, from, bytes);
    reach_.counts.bytes_copied.add(bytes);
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

  [[gnu::noinline]] outcome carry_piece(begun_copy& begun, std::uint64_t name, std::byte* to,
                                        const std::byte* from, std::uint64_t bytes) {
    if (!reach_.carries.allows(bytes) || (begun.name != 0 && begun.name != name)) return outcome::held;
    const std::uint64_t piece = std::min(reach_.carries.left(), bytes - begun.bytes);
    reach_.carries.take(piece);
    reach_.copy(to + begun.bytes, from + begun.bytes, piece);
    begun = {name, begun.bytes + piece};
    if (begun.bytes < bytes) return outcome::again;
    reach_.counts.bytes_copied.add(bytes);
    begun = {};
    return outcome::done;
  }

  reach<T>& reach_;
  operands<T>& operands_;
};

} // namespace weft::progress
