#pragma once
#include "engine/operations/operation_kind.hpp"

namespace weft::graph::operations {

// Carries whatever of the whole operation is unclaimed, until every destination on the host is full.
struct assist : operation_kind {
  static constexpr kind what = kind::assist;
  static constexpr std::string_view name = "assist";
  static constexpr bool moves_data = true;

  static bool fits(const node& n) { return n.peer == peer_rule::group; }
  static std::string text(const node&) { return "assist all"; }

  template <class Meaning> static auto means(Meaning& m, const node&, std::uint32_t e) {
    return m.assists(e);
  }
  template <class C, class Op, class Tag> static outcome run(C& c, Op& op, const node&, std::uint32_t, Tag) {
    return c.claims.assist(op);
  }
};

} // namespace weft::graph::operations
