#pragma once
#include "engine/operations/operation_kind.hpp"

namespace weft::graph::operations {

// In place: from my bounce buffer to where it belongs; where there are more pieces the body begins again.
struct restore : operation_kind {
  static constexpr kind what = kind::restore;
  static constexpr std::string_view name = "restore";
  static constexpr bool moves_data = true;
  static constexpr flow way(const node&) { return flow::in; }

  static bool fits(const node& n) { return n.peer == peer_rule::each; }
  static std::string text(const node& n) { return words("restore from ", graph::name(n.peer)); }

  template <class Meaning> static auto means(Meaning& m, const node&, std::uint32_t e) {
    m.receives_what_goes_out(e);
    m.bounces(e, false, true);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node&, std::uint32_t peer, Tag tag) {
    return c.in_place.restore(op, peer, tag.iteration);
  }
};

} // namespace weft::graph::operations
