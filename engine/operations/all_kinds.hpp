// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/operations/claims.hpp"
#include "engine/operations/computations.hpp"
#include "engine/operations/in_place.hpp"
#include "engine/operations/operation_kind.hpp"
#include "engine/operations/signals.hpp"
#include "engine/operations/transfers.hpp"
#include "engine/plan/names.hpp"
#include "engine/plan/resolve.hpp"

#include <array>

namespace weft::graph::operations {

// The nodes of its body for each peer of a range: in any order as facts arrive, one after the other or so
// many at a time (ordered), or each step behind the same one of the iteration before (pipelined). Both the
// executor and the verifier run its body; it has no step of its own.
struct loop : operation_kind {
  static constexpr kind what = kind::loop;
  static constexpr std::string_view name = "loop";

  static bool fits(const node&) { return true; }
  static std::string text(const node& n) {
    const std::string how = n.ordered == 1  ? "ordered "
                            : n.ordered > 1 ? words("ordered by ", std::to_string(n.ordered), " ")
                            : n.pipelined   ? "pipelined "
                                            : "";
    return words(how, "loop over ", n.over->name, ", ", std::to_string(n.count), " times",
                 n.searches ? ", until another root is found" : "");
  }

  template <class Meaning> static auto means(Meaning&, const node&, std::uint32_t e) { return e; }
  template <class C, class Op, class Tag> static outcome run(C&, Op&, const node&, std::uint32_t, Tag) {
    return outcome::blocked;
  }
};

template <class... Kind> struct kind_list {
  // What `f` says of each, in the order of their enumerators: a table to look a node's kind up in.
  template <class F> static constexpr auto table(F f) { return std::array{f.template operator()<Kind>()...}; }
};

// Every kind, in the order of `graph::kind`. The one place that knows them all.
using all_kinds = kind_list<copy, get, put, flush, signal, await, take, claim, assist, fetch, discover, save,
                            restore, rotate, compare, reduce, compute, choose, loop>;

static_assert(in_order(all_kinds::table([]<class Kind>() { return Kind::what; }), [](kind k) { return k; }));

} // namespace weft::graph::operations

namespace weft::graph {

inline std::string_view name(kind k) {
  static constexpr auto names = operations::all_kinds::table([]<class Kind>() { return Kind::name; });
  return names[static_cast<std::size_t>(k)];
}
inline bool moves_data(kind k) {
  static constexpr auto moves = operations::all_kinds::table([]<class Kind>() { return Kind::moves_data; });
  return moves[static_cast<std::size_t>(k)];
}
inline bool serves_others(kind k) {
  static constexpr auto serve =
      operations::all_kinds::table([]<class Kind>() { return Kind::serves_others; });
  return serve[static_cast<std::size_t>(k)];
}
inline bool looks(kind k) {
  static constexpr auto look = operations::all_kinds::table([]<class Kind>() { return Kind::looks; });
  return look[static_cast<std::size_t>(k)];
}
inline bool is_short(kind k) {
  static constexpr auto are = operations::all_kinds::table([]<class Kind>() { return Kind::is_short; });
  return are[static_cast<std::size_t>(k)];
}
inline flow way_of(const node& n) {
  static constexpr auto ways = operations::all_kinds::table([]<class Kind>() { return &Kind::way; });
  return ways[static_cast<std::size_t>(n.what)](n);
}
inline bool moves_regions(const node& n) {
  static constexpr auto moves = operations::all_kinds::table([]<class Kind>() { return Kind::by_regions; });
  return moves[static_cast<std::size_t>(n.what)] && n.read.in != buffer::none && n.write.in != buffer::none;
}
inline bool fits(const node& n) {
  static constexpr auto fit = operations::all_kinds::table([]<class Kind>() { return &Kind::fits; });
  return fit[static_cast<std::size_t>(n.what)](n);
}

// A node in a few words, its peer as a rule: "get from each", "await delivered 12", "claim in, if near".
std::string describe(const node& n);

// A picture of a plan for Graphviz (`dot -Tsvg`): nodes with their numbers, loops as boxes around their
// bodies.
std::string to_dot(const plan& p);

// Notes in a plan what follows from its nodes: regions that are the same in every execution, what a post does
// and a rank that is away is rung for, and the steps of a plan that is straight. Every plan that compile()
// returns ends here.
void finish(plan& p, const topology& g);

} // namespace weft::graph
