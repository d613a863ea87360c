#pragma once
#include "engine/operations/operation_kind.hpp"

namespace weft::graph::operations {

// In place: the present piece of what the peer has for me, into my bounce buffer.
struct save : operation_kind {
  static constexpr kind what = kind::save;
  static constexpr std::string_view name = "save";
  static constexpr bool moves_data = true;
  static constexpr flow way(const node&) { return flow::in; }

  static bool fits(const node& n) { return n.peer == peer_rule::each; }
  static std::string text(const node& n) { return words("take aside from ", graph::name(n.peer)); }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    m.needs_row(e, direction::in);
    m.did(n, e, m.bounces(e, true, false));
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node&, std::uint32_t peer, Tag tag) {
    return c.in_place.save_piece(op, peer, tag);
  }
};

} // namespace weft::graph::operations
