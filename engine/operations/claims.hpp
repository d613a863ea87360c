// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/operations/operation_kind.hpp"

#include <algorithm>

// Kinds that share work among ranks of a host; by progress/execution/claims.hpp.
namespace weft::graph::operations {

// Carries what is still unclaimed of a block that its source, its destination or any rank on the host may
// carry; done when nothing is left to claim. A swap moves the two blocks between a pair in place.
struct claim : operation_kind {
  static constexpr kind what = kind::claim;
  static constexpr std::string_view name = "claim";
  static constexpr bool moves_data = true;

  static bool fits(const node& n) {
    return n.peer == (n.way == direction::self ? peer_rule::self : peer_rule::each);
  }
  static std::string text(const node& n) { return words("claim ", graph::name(n.way)); }

  // Between which two the block goes. A pair has one claim word, at its higher rank.
  struct ends {
    std::uint32_t from, to;
  };
  static ends of(direction way, std::uint32_t me, std::uint32_t peer) {
    switch (way) {
    case direction::in:
      return {peer, me};
    case direction::out:
      return {me, peer};
    case direction::self:
      return {me, me};
    case direction::swap:
      break;
    }
    return {std::min(me, peer), std::max(me, peer)};
  }

  template <class Meaning> static auto means(Meaning& m, const node& n, std::uint32_t e) {
    const ends block = of(n.way, m.me(), m.peer_of(e));
    m.may_carry(e, block.from, block.to);
    return e;
  }
  template <class C, class Op, class Tag>
  static outcome run(C& c, Op& op, const node& n, std::uint32_t peer, Tag tag) {
    return c.claims.step(op, n, of(n.way, op.program->me, peer), tag);
  }
  template <class L, class Op, class To>
  static void rung_for(L& l, Op& op, const node&, std::uint32_t, std::uint32_t, To& to) {
    l.others_carry(op) ? l.list_counts(op, to) : l.list_ready(to);
  }
};

// Carries whatever of the whole operation is unclaimed, until every destination on the host is full.
struct assist : operation_kind {
  static constexpr kind what = kind::assist;
  static constexpr std::string_view name = "assist";
  static constexpr bool moves_data = true;

  static bool fits(const node& n) { return n.peer == peer_rule::group; }
  static std::string text(const node&) { return "assist all"; }

  template <class Meaning> static auto means(Meaning& m, const node&, std::uint32_t e) {
    return m.assists(e);
  }
  template <class C, class Op, class Tag> static outcome run(C& c, Op& op, const node&, std::uint32_t, Tag) {
    return c.claims.assist(op);
  }
  template <class L, class Op, class To>
  static void rung_for(L& l, Op& op, const node&, std::uint32_t, std::uint32_t, To& to) {
    l.list_destinations(op, to);
  }
};

} // namespace weft::graph::operations
