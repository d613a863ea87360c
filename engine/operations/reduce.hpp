#pragma once
#include "engine/operations/operation_kind.hpp"

namespace weft::graph::operations {

// Combines what is read with what stands where it is written, by the combiner that the operation is bound to:
// a block of mine (peer: self); or (group) the sources of all members of my host, in the order of their
// ranks, into all their destinations, in pieces that whoever is there takes his share of. That is done when
// all pieces are.
struct reduce : operation_kind {
  static constexpr kind what = kind::reduce;
  static constexpr std::string_view name = "reduce";
  static constexpr bool moves_data = true;
  static constexpr bool by_regions = true;

  static bool fits(const node& n) {
    if (n.of != blocks::one || n.write.in != buffer::destination) return false;
    return n.peer == peer_rule::group
               ? n.read.in == buffer::source
               : n.peer == peer_rule::self && any_of(n.read.in, buffer::source, buffer::scratch);
  }
  static std::string text(const node& n) {
    return n.peer == peer_rule::group ? "combine the blocks of my host" : "combine";
  }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    if (n.peer == peer_rule::group) return m.combines_host(e);
    m.template moves<reduce>(n, e);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t peer, Tag tag) {
    return n.peer == peer_rule::group ? c.reductions.share_host(op) : c.reductions.combine(op, n, peer, tag);
  }
};

} // namespace weft::graph::operations
