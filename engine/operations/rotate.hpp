#pragma once
#include "engine/operations/operation_kind.hpp"

namespace weft::graph::operations {

// In place: the blocks of whole cycles that lie on my host, by whoever is there; of my own cycle, or (group)
// of all; done when they are in place.
struct rotate : operation_kind {
  static constexpr kind what = kind::rotate;
  static constexpr std::string_view name = "rotate";
  static constexpr bool moves_data = true;

  static bool fits(const node& n) { return n.peer == peer_rule::self || n.peer == peer_rule::group; }
  static std::string text(const node& n) {
    return n.peer == peer_rule::self ? "rotate my cycle" : "rotate all cycles";
  }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    return m.rotates(n, e);
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t, Tag) {
    return c.rotations.step(op, n);
  }
};

} // namespace weft::graph::operations
