#pragma once
#include "engine/operations/operation_kind.hpp"

namespace weft::graph::operations {

// Blocks from one buffer of mine to another.
struct copy : operation_kind {
  static constexpr kind what = kind::copy;
  static constexpr std::string_view name = "copy";
  static constexpr bool serves_others = false;
  static constexpr bool moves_data = true;
  static constexpr bool by_regions = true;

  static bool fits(const node& n) {
    return n.peer == peer_rule::self &&
           any_of(n.read.in, buffer::source, buffer::destination, buffer::scratch) &&
           any_of(n.write.in, buffer::destination, buffer::scratch);
  }
  static std::string text(const node& n) { return n.of == blocks::one ? "copy own block" : "copy"; }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    m.template moves<copy>(n, e);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t peer, Tag tag) {
    return c.transfers.copy_own(op, n, peer, tag);
  }
};

} // namespace weft::graph::operations
