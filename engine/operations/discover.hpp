#pragma once
#include "engine/operations/operation_kind.hpp"

namespace weft::graph::operations {

// Takes in what the peer's row says: whether it names me as the root, how much I must expect from it.
struct discover : operation_kind {
  static constexpr kind what = kind::discover;
  static constexpr std::string_view name = "discover";

  static bool fits(const node& n) { return n.peer == peer_rule::each; }
  static std::string text(const node& n) { return words("discover row of ", graph::name(n.peer)); }

  template <class Meaning> static auto means(Meaning& m, const node&, std::uint32_t e) {
    m.discovers(e);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node&, std::uint32_t peer, Tag) {
    return c.roots.look_at(op, peer);
  }
};

} // namespace weft::graph::operations
