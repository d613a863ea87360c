#pragma once
#include "engine/operations/operation_kind.hpp"

namespace weft::graph::operations {

// Brings an element of the far peer's row: an operand of the block between us.
struct fetch : operation_kind {
  static constexpr kind what = kind::fetch;
  static constexpr std::string_view name = "fetch";
  static constexpr bool moves_data = true;

  static bool fits(const node& n) { return n.peer == peer_rule::each; }
  static std::string text(const node& n) {
    return words("fetch ", graph::name(n.which), " of block ", graph::name(n.way), " of ",
                 graph::name(n.peer));
  }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    m.fetches(n, e);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t peer, Tag tag) {
    return c.transfers.fetch(op, n, peer, tag);
  }
};

} // namespace weft::graph::operations
