// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/plan.hpp"

namespace weft::graph {

// A word by which a member tells others how far it is: which, in whose mailbox, and what it must have come
// to. One node raises it, others await it, and all of them find it here.
struct cell {
  fact what = fact::none;
  std::uint8_t phase = 0;
  std::uint32_t owner = 0; // in whose mailbox
  std::uint32_t value = 0; // counted; or the round's number, from 1

  bool operator==(const cell&) const = default;
};

// Said once for the whole operation, not in each of its phases.
constexpr bool is_of_operation(fact f) {
  return f == fact::entry || f == fact::asked || f == fact::row || f == fact::named || f == fact::call;
}
constexpr bool is_stage(fact f) {
  return f == fact::stage_in || f == fact::stage_out;
}
constexpr bool is_counter(fact f) {
  return f == fact::delivered || f == fact::consumed;
}

// What a stage comes to when it is told to a host at once: behind all rounds.
inline constexpr std::uint32_t told_to_host = 64;
constexpr std::uint32_t stage_of(const node& n, std::uint32_t step) {
  return n.peer == peer_rule::ahead || n.peer == peer_rule::behind ? step + 1 : told_to_host;
}

// How many of what is counted step by step must have come in this one.
constexpr std::uint32_t counted_by(const node& n, std::uint32_t step) {
  return step + 1 > n.count ? step + 1 - n.count : 0;
}

// The one that a node raises, or awaits, in a step with a peer. What is counted is so in the mailbox of the
// rank that waits, all else is said in the mailbox of the rank that says it.
[[gnu::always_inline]] inline cell cell_of(const plan& p, const node& n, std::uint32_t peer,
                                           std::uint32_t step) {
  const bool raises = n.what == kind::signal;
  if (!is_counter(n.about))
    return {n.about, n.phase, raises ? p.me : peer, is_stage(n.about) ? stage_of(n, step) : 0};
  const bool mine = n.peer == peer_rule::self;
  return {n.about, n.phase, mine ? p.me : peer, n.stepwise && !raises ? counted_by(n, step) : n.count};
}

} // namespace weft::graph
