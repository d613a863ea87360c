#pragma once
#include "engine/operations/assist.hpp"
#include "engine/operations/await.hpp"
#include "engine/operations/claim.hpp"
#include "engine/operations/compare.hpp"
#include "engine/operations/compute.hpp"
#include "engine/operations/copy.hpp"
#include "engine/operations/discover.hpp"
#include "engine/operations/fetch.hpp"
#include "engine/operations/flush.hpp"
#include "engine/operations/get.hpp"
#include "engine/operations/loop.hpp"
#include "engine/operations/put.hpp"
#include "engine/operations/reduce.hpp"
#include "engine/operations/restore.hpp"
#include "engine/operations/rotate.hpp"
#include "engine/operations/save.hpp"
#include "engine/operations/signal.hpp"
#include "engine/operations/take.hpp"
#include "engine/plan/in_order.hpp"

#include <array>

namespace weft::graph::operations {

template <class... Kind> struct kind_list {
  // What `f` says of each, in the order of their enumerators: a table to look a node's kind up in.
  template <class F> static constexpr auto table(F f) { return std::array{f.template operator()<Kind>()...}; }
};

// Every kind, in the order of `graph::kind`. The one place that knows them all.
using all_kinds = kind_list<copy, get, put, flush, signal, await, take, claim, assist, fetch, discover, save,
                            restore, rotate, compare, reduce, compute, loop>;

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

} // namespace weft::graph
