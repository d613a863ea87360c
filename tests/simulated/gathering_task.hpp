#pragma once
#include "engine/plan/task.hpp"

#include <cstring>

namespace weft::tests {

// What a verifier takes a computation for, run: the partial result of a member is its source block, and the
// result is all of them side by side. So whoever loses, doubles or mixes up one is found by the reference of
// a gather. Done in pieces of one member's block, when no more is asked for.
struct gathering_task : graph::task {
  // How results come about: of all parts on each member; of its own alone, which the others have no other way
  // to get; of parts that the root brings.
  enum class form : std::uint8_t { gathered, handed_out, brought };
  gathering_task(bool of_user, form f) {
    run = f == form::handed_out ? make_own : gather;
    part_of = f == form::brought ? part_of_table : part;
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
      for (; w.done != w.members; ++w.done) {
        std::memcpy(destination + w.done * w.block, w.scratch + w.done * w.block, w.block);
        if (in_pieces && w.done + 1 != w.members) return ++w.done, false;
      }
      return true;
    default:
      return true;
    }
  }
  static bool make_own(const graph::task& t, graph::work& w) {
    std::byte* const result = w.room + most_members * most_bytes;
    if (w.stage == 0) return gather(t, w);
    if (w.stage == 1) std::memcpy(result, w.scratch + w.me * w.block, w.block);
    if (w.stage == 2) std::memcpy(w.segment + w.dst + w.me * w.block, result, w.block);
    return true;
  }
  static graph::part part_of_table(const graph::task&, const graph::work& w, std::uint32_t peer) {
    return {w.src, w.scratch + peer * w.block, w.block};
  }
  static graph::part part(const graph::task&, const graph::work& w, std::uint32_t peer) {
    if (w.stage == 1) return {w.dst + w.me * w.block, w.room + most_members * most_bytes, w.block};
    return {w.src, w.room + peer * w.block, w.block};
  }
};

using form_of_task = gathering_task::form;
inline const gathering_task gathering_tasks[2][3] = {
    {{false, form_of_task::gathered}, {false, form_of_task::handed_out}, {false, form_of_task::brought}},
    {{true, form_of_task::gathered}, {true, form_of_task::handed_out}, {true, form_of_task::brought}}};

} // namespace weft::tests
