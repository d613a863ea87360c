// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/operations/operation_kind.hpp"

// Kinds of operations in place; by progress/execution/in_place.hpp.
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

// In place: the blocks of whole cycles that lie on my host, by members that have entered; of my own cycle, or
// (group) of all; done when they are in place.
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
