#pragma once
#include "engine/operations/operation_kind.hpp"

namespace weft::graph::operations {

// Waits for a fact. Counted ones: until so many have been counted, the number of the plan, or what rows tell;
// stepwise, in step k for k + 1 - count of them.
struct await : operation_kind {
  static constexpr kind what = kind::await;
  static constexpr std::string_view name = "await";
  static constexpr bool serves_others = false;

  static bool fits(const node& n) {
    const bool of_each = n.peer == peer_rule::each, of_mine = n.peer == peer_rule::self;
    if (is_stage(n.about)) return n.peer == peer_rule::behind || (of_each && !n.valued);
    if (n.stepwise) return n.about == fact::delivered && (of_each || of_mine);
    if (is_counter(n.about)) return of_mine;
    return of_each && (n.about == fact::entry || n.about == fact::row || n.about == fact::named ||
                       n.about == fact::ready);
  }
  static std::string text(const node& n) {
    const std::string_view about = graph::name(n.about), peer = graph::name(n.peer);
    if (n.stepwise)
      return words("await steps' ", about, " of ", peer, ", ", std::to_string(n.count), " behind");
    const bool rows_tell = is_counter(n.about) && n.count == 0;
    const std::string count = rows_tell ? " what the rows say" : count_word(n);
    if (n.peer == peer_rule::self) return words("await ", about, count, valued_word(n));
    return words("await ", about, count_word(n), valued_word(n), " from ", peer);
  }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    if (is_counter(n.about) && !n.stepwise && n.count == 0)
      m.receives_what_rows_say(n, e);
    else if (n.about == fact::named)
      m.receives_naming(e);
    else
      m.receives(n, e);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t peer, Tag tag) {
    return c.signals.await(op, n, peer, tag);
  }
};

} // namespace weft::graph::operations
