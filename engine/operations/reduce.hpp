#pragma once
#include "engine/operations/operation_kind.hpp"

namespace weft::graph::operations {

// Combines the sources of all members of my host, element by element in the order of their ranks, into all
// their destinations, or the root's, in pieces that whoever is there takes his share of. It is done when all
// pieces are. Where the vectors lie, the table of addresses says in the first bytes of scratch.
struct reduce : operation_kind {
  static constexpr kind what = kind::reduce;
  static constexpr std::string_view name = "reduce";
  static constexpr bool moves_data = true;

  static bool fits(const node& n) {
    return n.of == blocks::one && n.peer == peer_rule::group && n.read.in == buffer::source &&
           n.write.in == buffer::destination;
  }
  static std::string text(const node&) { return "combine the blocks of my host"; }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    m.needs(n, e);
    return m.combines_host(e);
  }
  template <class C, class Op, class Tag> static outcome run(C& c, Op& op, const node&, std::uint32_t, Tag) {
    return c.reductions.share_host(op);
  }
};

} // namespace weft::graph::operations
