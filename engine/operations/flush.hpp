#pragma once
#include "engine/operations/operation_kind.hpp"

namespace weft::graph::operations {

// All my puts to the peer are in place there; or, if it only orders, will be before it hears what I tell it
// next: that costs nothing where messages stay behind puts.
struct flush : operation_kind {
  static constexpr kind what = kind::flush;
  static constexpr std::string_view name = "flush";

  static bool fits(const node& n) { return n.peer == peer_rule::each; }
  static std::string text(const node& n) {
    return words(n.orders ? "order to " : "flush to ", graph::name(n.peer));
  }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    n.orders ? m.orders(n, e) : m.did(n, e);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t peer, Tag tag) {
    return c.transfers.flush(op, peer, tag, n.orders);
  }
};

} // namespace weft::graph::operations
