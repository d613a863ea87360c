// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/names.hpp"
#include "engine/plan/resolve.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::graph {

// What came of a step.
enum class outcome : std::uint8_t {
  done,      // it is finished
  whole,     // and so are the steps behind it in its loop, for this peer
  blocked,   // a fact is missing; look again later
  held,      // it could be carried now, but not in this pass: see quota
  again,     // something was carried, there is more
  repeat,    // a piece is in place, the next one begins
  flying,    // a completion will tell
  under_way, // a loop: some of its iterations are not finished
  failed,    // the operation has failed, its status says why; nothing more is to be done for it
};

} // namespace weft::graph

// The kinds of operations that plans are made of, a type for each. A kind says
//   what, name       which it is, and what it is called
//   moves_data       whether data of users are touched
//   serves_others    whether any other rank waits for it
//   by_regions       whether a step moves the regions that each_move tells, and nothing else
//   way(n)           whose memory it reads and writes, see resolve
//   fits(n)          with which operands, peers and facts it may be used
//   text(n)          how it is told, and drawn
//   means(m, n, e)   what its event e stands for, to the verifier; returns the event at which it is done
//   run(c, op, n, peer, tag)   what it does with one peer, now; see outcome
//   rung_for(l, op, n, peer, iteration, to)   for which words a rank that is away is rung, as l lists them
//   looks, is_short  how much a step is, see below
// and all_kinds.hpp lists them. The verifier and the executor have the same node before them and resolve it
// by the same functions; what they are asked to do with it stands side by side here.
//
// Orders. Whatever a node reads of another rank it reads after a load (acquire) of the word that announces
// it; whatever it announces it stores (release) after the data. Counters and claims change by acquire-release
// CAS, so any rank that sees a counter full sees the copies of each rank that raised it.
namespace weft::graph::operations {

// What kinds have in common unless they say otherwise.
struct operation_kind {
  static constexpr bool moves_data = false;
  static constexpr bool serves_others = true;
  static constexpr bool by_regions = false;
  static constexpr bool looks = false;    // at words, and takes what they announce: it may be made again
  static constexpr bool is_short = false; // a look, a small copy, or a computation that is through at once
  static constexpr flow way(const node&) { return flow::own; }
  // It cannot be listed: the rank looks for itself, now and then.
  template <class L, class Op, class To>
  static void rung_for(L&, Op&, const node&, std::uint32_t, std::uint32_t, To& to) {
    to.give_up();
  }
};

template <class What, class... Of> constexpr bool any_of(What it, Of... of) {
  return ((it == of) || ...);
}

// Messages of several blocks, put together.
constexpr bool travels_packed(const node& n) {
  return n.of != nullptr && n.of->packed;
}

// A payload that the task of the operation has, or is to have: to the verifier the blocks that it stands for,
// in memory what the task says.
constexpr bool is_part(const node& n) {
  return n.about == fact::payload && n.count != 0;
}

template <class... Part> std::string words(const Part&... parts) {
  std::string text;
  ((text += parts), ...);
  return text;
}
inline std::string count_word(const node& n) {
  return n.count == 0 ? "" : words(" ", std::to_string(n.count));
}
inline std::string_view valued_word(const node& n) {
  return n.valued ? " with value" : "";
}

} // namespace weft::graph::operations
