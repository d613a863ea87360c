#pragma once
#include "engine/operations/operation_kind.hpp"

namespace weft::graph::operations {

// Makes a fact known: to all members of my host by a store into my own mailbox (peer: group), or to one
// member. Some facts bring blocks along: those of an eager payload are written into the mailbox first.
struct signal : operation_kind {
  static constexpr kind what = kind::signal;
  static constexpr std::string_view name = "signal";
  static constexpr bool by_regions = true; // those of its payload, if it has one
  static constexpr flow way(const node& n) {
    return n.peer == peer_rule::group || n.peer == peer_rule::self ? flow::own : flow::out;
  }

  static bool fits(const node& n) {
    const bool brings_blocks = n.about == fact::payload && !n.valued;
    if (!brings_blocks && n.read.in != buffer::none) return false;
    if (brings_blocks && (!any_of(n.read.in, buffer::source, buffer::destination, buffer::scratch) ||
                          n.write.in != buffer::mailbox))
      return false;
    const bool to_each = n.peer == peer_rule::each, to_group = n.peer == peer_rule::group;
    if (n.relayed) return brings_blocks && to_each && !travels_packed(n);
    if (n.about == fact::payload && travels_packed(n)) return n.peer == peer_rule::ahead;
    if (n.about == fact::payload || n.about == fact::row || n.about == fact::ready)
      return to_each || to_group;
    if (is_stage(n.about)) return n.peer == peer_rule::ahead || (to_group && !n.valued);
    if (n.stepwise) return n.about == fact::delivered && n.peer == peer_rule::self && n.count == 1;
    if (is_counter(n.about)) return (to_each || n.peer == peer_rule::self) && n.count != 0;
    return (n.about == fact::entry || n.about == fact::asked) && to_each;
  }
  static std::string text(const node& n) {
    return words("signal ", graph::name(n.about), count_word(n), valued_word(n), " to ", graph::name(n.peer),
                 n.relayed ? ", handed on" : "");
  }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    m.needs(n, e);
    if (n.about == fact::payload && !n.valued) {
      m.publishes_named(n, e);
      m.template moves<signal>(n, e);
    }
    const bool announces = is_counter(n.about) || (n.about == fact::ready && n.peer != peer_rule::group);
    if (announces && !n.stepwise) m.did(n, e);
    if (n.about == fact::row) m.reads_own_row(e);
    m.sends(n, e);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t peer, Tag tag) {
    return c.signals.raise(op, n, peer, tag);
  }
};

} // namespace weft::graph::operations
