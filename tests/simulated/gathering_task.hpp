#pragma once
#include "engine/plan/task.hpp"

#include <cstring>

namespace weft::tests {

// What a verifier takes a computation for, run: the partial result of a member is its source block, and the
// result is all of them side by side. So whoever loses, doubles or mixes up one is found by the reference of
// a gather. Done in pieces of one member's block, when no more is asked for.
struct gathering_task : graph::task {
  explicit gathering_task(bool of_user) {
    run = gather;
    part_of = part;
    room = 2 * most_members * most_bytes;
    user = of_user;
  }
  static constexpr std::uint64_t most_members = 16, most_bytes = 2048;

private:
  static bool gather(const graph::task&, graph::work& w) {
    const std::byte* const source = w.segment + w.src;
    std::byte* const destination = w.segment + w.dst;
    const bool in_pieces = w.budget < ~std::uint64_t{0};
    switch (w.stage) {
    case 0:
      std::memcpy(w.scratch + w.me * w.block, source, w.block);
      return true;
    case 1:
      // By ranges what the others have is here, and this is what they are to get.
      if (w.room != nullptr)
        std::memcpy(w.room + most_members * most_bytes, w.scratch + w.me * w.block, w.block);
      for (; w.done != w.members; ++w.done) {
        std::memcpy(destination + w.done * w.block, w.scratch + w.done * w.block, w.block);
        if (in_pieces && w.done + 1 != w.members) return ++w.done, false;
      }
      return true;
    default:
      std::memcpy(destination + w.me * w.block, w.room + most_members * most_bytes, w.block);
      return true;
    }
  }
  static graph::part part(const graph::task&, const graph::work& w, std::uint32_t peer) {
    if (w.stage == 1) return {w.dst + w.me * w.block, w.room + most_members * most_bytes, w.block};
    return {w.src, w.room + peer * w.block, w.block};
  }
};

inline const gathering_task gathering(false), gathering_as_user(true);

} // namespace weft::tests
