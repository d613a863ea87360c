#pragma once
#include "engine/operations/operation_kind.hpp"

namespace weft::graph::operations {

// User code, run by a thread that drives, with nothing held: other operations go on meanwhile if there is
// anybody to drive them. It completes like a request to the transport.
struct call : operation_kind {
  static constexpr kind what = kind::call;
  static constexpr std::string_view name = "call";

  static bool fits(const node& n) { return n.peer == peer_rule::self && n.read.in == buffer::none; }
  static std::string text(const node&) { return "call user code"; }

  template <class Meaning> static auto means(Meaning&, const node&, std::uint32_t e) { return e; }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node&, std::uint32_t peer, Tag tag) {
    return c.user_calls.begin(op, peer, tag);
  }
};

} // namespace weft::graph::operations
