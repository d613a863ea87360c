#pragma once
#include "engine/operations/operation_kind.hpp"

namespace weft::graph::operations {

// Blocks of the peer into my destination, carried by me alone: by loads and stores within the host, else by
// the transport.
struct get : operation_kind {
  static constexpr kind what = kind::get;
  static constexpr std::string_view name = "get";
  static constexpr bool moves_data = true;
  static constexpr flow way(const node&) { return flow::in; }

  static bool fits(const node& n) {
    return n.peer == peer_rule::each && any_of(n.read.in, buffer::source, buffer::destination) &&
           n.write.in == buffer::destination && !travels_packed(n) && n.of != blocks::readers;
  }
  static std::string text(const node& n) { return words("get from ", graph::name(n.peer)); }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    m.needs_row(e, direction::in);
    if (m.template moves<get>(n, e) == 0) m.did(n, e);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t peer, Tag tag) {
    return c.transfers.template carry<get>(op, n, peer, tag);
  }
};

} // namespace weft::graph::operations
