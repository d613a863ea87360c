#pragma once
#include "engine/operations/operation_kind.hpp"

namespace weft::graph::operations {

// What get and put have in common: blocks between two members' buffers, carried by one of them alone. Where
// an operation has a task and my end is scratch, they are the part of the peer in my work on it, and the task
// says where that lies.
template <class Kind, direction Way> struct carried_alone : operation_kind {
  static constexpr bool moves_data = true;
  static constexpr bool by_regions = true;
  static constexpr flow way(const node&) { return Way == direction::in ? flow::in : flow::out; }

  static bool fits(const node& n) {
    const bool from = any_of(n.read.in, buffer::source, buffer::destination);
    const bool mine = Way == direction::in
                          ? n.write.in == buffer::scratch && from
                          : n.read.in == buffer::scratch && n.write.in == buffer::destination;
    const bool both = from && n.write.in == buffer::destination;
    return n.peer == peer_rule::each && (mine || both) && !travels_packed(n) && n.of != blocks::readers;
  }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    m.needs_row(e, Way);
    if (m.template moves<Kind>(n, e) == 0) m.did(n, e);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t peer, Tag tag) {
    return c.transfers.template carry<Kind>(op, n, peer, tag);
  }
};

} // namespace weft::graph::operations
