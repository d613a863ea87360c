// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "pointer.hpp"
#include "shared_array.hpp"
#include "sort.h"
#include "sort_loops.hpp"

#include <concepts>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

// Sorts of typed arrays: the pointer says the element and the block size, and the comparator gets elements,
// not pointers. It is copied for an asynchronous operation, until that is complete.
//
//   weft::shared_array<long, 1000> a(weft::per_thread(1000));
//   upc_all_sort(a, a.size(), UPC_IN_ALLSYNC | UPC_OUT_ALLSYNC);
//   upc_all_sort(a, a.size(), [](long x, long y) { return x % 10 < y % 10; }, 0);
//   upc_all_sort(a, a.size(), weft::by_key([](long x) { return x % 10; }), 0);
namespace weft {

// An order by a number that each element has, ascending: an integer, a float or a double. What is no number
// comes last.
template <class F> struct by_key {
  F key;
  explicit by_key(F f) : key(std::move(f)) {}
};

namespace detail {

// The order of a program; how it is kept, and given up.
struct user_order {
  element_order how;
  const void* (*keep)(const void* f);
  void (*release)(const void* f);
  const void* function;
};

// `numbers`: elements are numbers of elem_size bytes in ascending order, and there is no order of the
// program.
WEFT_EXPORT upc_coll_handle_t sort_elements(upc_shared_ptr_t a, std::size_t elem_size, std::size_t alignment,
                                            std::size_t nelems, std::size_t blk_size, number numbers,
                                            const user_order* order, upc_flag_t sync_mode, upc_team_t team);

template <class T> consteval number number_of() {
  if (!std::is_arithmetic_v<T> || sizeof(T) > 8) return number::none;
  if (std::is_floating_point_v<T>) return number::floating;
  return std::is_signed_v<T> ? number::signed_integer : number::unsigned_integer;
}

// Answers true for what comes before, or a number or an ordering that is less than 0.
template <class T, class F> struct compared_by {
  const F* f;
  static compared_by of(const void* f) { return {static_cast<const F*>(f)}; }
  bool operator()(const T& a, const T& b) const {
    using answer = std::invoke_result_t<const F&, const T&, const T&>;
    if constexpr (std::is_same_v<answer, bool>)
      return std::invoke(*f, a, b);
    else
      return std::invoke(*f, a, b) < 0;
  }
};
template <class T, class F> struct bits_by {
  const F* f;
  static bits_by of(const void* f) { return {static_cast<const F*>(f)}; }
  auto operator()(const T& a) const { return ordered_bits(std::invoke(*f, a)); }
};

template <class F> struct kept {
  static const void* keep(const void* f) { return new F(*static_cast<const F*>(f)); }
  static void release(const void* f) { delete static_cast<const F*>(f); }
};

template <class A>
concept sortable = std::is_trivially_copyable_v<element_of<A>>;
template <class F, class A>
concept compares = std::is_invocable_v < const F&,
        const element_of<A>
&, const element_of<A>& > ;

template <class A>
upc_coll_handle_t sort(const A& a, std::size_t nelems, number numbers, const user_order* order,
                       upc_flag_t sync_mode, upc_team_t team) {
  using element = element_of<A>;
  const auto first = first_of(a);
  return sort_elements(first, sizeof(element), alignof(element), nelems, first.block(), numbers, order,
                       sync_mode, team);
}

} // namespace detail

// By a comparator of the program: comp(x, y) is true, or less than 0, if x comes before y.
template <detail::sortable A, detail::compares<A> F>
upc_coll_handle_t upc_all_sort(const A& a, std::size_t nelems, const F& comp, upc_flag_t sync_mode,
                               upc_team_t team = UPC_TEAM_ALL) {
  using element = detail::element_of<A>;
  static constexpr detail::element_order how =
      detail::order_by_comparing<element, detail::compared_by<element, F>>();
  const detail::user_order order{how, detail::kept<F>::keep, detail::kept<F>::release, &comp};
  return detail::sort(a, nelems, detail::number::none, &order, sync_mode, team);
}

// By a key of each element.
template <detail::sortable A, class F>
upc_coll_handle_t upc_all_sort(const A& a, std::size_t nelems, const by_key<F>& order, upc_flag_t sync_mode,
                               upc_team_t team = UPC_TEAM_ALL) {
  using element = detail::element_of<A>;
  using bits = detail::bits_by<element, F>;
  // What is large is moved less often by comparisons.
  static constexpr std::size_t most_dealt = 32;
  static constexpr detail::element_order how =
      sizeof(element) <= most_dealt ? detail::order_by_key<element, bits>()
                                    : detail::order_by_comparing<element, detail::less_by_bits<bits>>();
  const detail::user_order made{how, detail::kept<F>::keep, detail::kept<F>::release, &order.key};
  return detail::sort(a, nelems, detail::number::none, &made, sync_mode, team);
}

// Numbers, or whatever has an operator <, in ascending order.
template <detail::sortable A>
upc_coll_handle_t upc_all_sort(const A& a, std::size_t nelems, upc_flag_t sync_mode,
                               upc_team_t team = UPC_TEAM_ALL) {
  using element = detail::element_of<A>;
  constexpr detail::number numbers = detail::number_of<element>();
  if constexpr (numbers != detail::number::none)
    return detail::sort(a, nelems, numbers, nullptr, sync_mode, team);
  else
    return upc_all_sort(
        a, nelems, [](const element& x, const element& y) { return x < y; }, sync_mode, team);
}

} // namespace weft
