#pragma once
#include "engine/operations/operation_kind.hpp"

namespace weft::graph::operations {

// Waits for the peer's eager payload, then copies my part of it out of its mailbox; or takes in the value of
// a barrier.
struct take : operation_kind {
  static constexpr kind what = kind::take;
  static constexpr std::string_view name = "take";
  static constexpr bool serves_others = false;
  static constexpr bool moves_data = true;
  static constexpr bool by_regions = true;
  static constexpr flow way(const node&) { return flow::in; }

  static bool fits(const node& n) {
    const bool takes_blocks =
        n.read.in == buffer::mailbox && any_of(n.write.in, buffer::destination, buffer::scratch);
    return n.about == fact::payload && (n.valued || takes_blocks) &&
           n.peer == (travels_packed(n) ? peer_rule::behind : peer_rule::each);
  }
  static std::string text(const node& n) {
    return words("take", valued_word(n), " from ", graph::name(n.peer));
  }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    if (!n.valued) m.template moves<take>(n, e);
    m.receives(n, e);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t peer, Tag tag) {
    if (!c.signals.reached(op, {fact::payload, n.phase, peer, 0})) return outcome::blocked;
    c.payloads.take(op, n, peer, tag.iteration);
    return outcome::done;
  }
};

} // namespace weft::graph::operations
