// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "element_loops.hpp"
#include "pointer.hpp"
#include "reduction.h"
#include "shared_array.hpp"

#include <complex>
#include <cstddef>
#include <type_traits>
#include <utility>

// Reductions of typed arrays: the type chooses the function of reduction.h, the pointer says the block size,
// and the operator may be anything that can be called with two elements, a lambda with captures, too. It is
// copied for an asynchronous operation, until that is complete.
//
//   weft::shared_array<double, 4> a(weft::per_thread(100));
//   weft::shared_array<double> sum(weft::per_thread(1));
//   upc_all_reduce_all(sum, a, UPC_ADD, a.size(), UPC_IN_MYSYNC | UPC_OUT_MYSYNC);
//   upc_all_reduce_all(sum, a, UPC_FUNC, a.size(), [&](double x, double y) { return std::hypot(x, y); }, 0);
namespace weft {
namespace detail {

enum class reduced { value, value_on_all, prefixes };

// What a callable object does with rows of elements; how it is kept, and given up.
struct user_operator {
  void (*combine)(void* into, const void* from, std::size_t count, const void* f);
  void (*fold)(void* into, const void* from, std::size_t count, bool more, const void* f);
  void (*scan)(void* to, const void* from, std::size_t count, void* carry, bool more, bool exclusive,
               const void* f);
  const void* (*keep)(const void* f);
  void (*release)(const void* f);
  const void* function;
};

WEFT_EXPORT upc_coll_handle_t reduce_elements(reduced what, int type, upc_shared_ptr_t dst,
                                              upc_shared_ptr_t src, upc_op_t op, std::size_t nelems,
                                              std::size_t blk_size, const user_operator* f,
                                              upc_flag_t sync_mode, upc_team_t team);

// The number of a type in WEFT_REDUCTION_TYPES; -1: none.
template <class T> consteval int reduction_type() {
  int number = 0, found = -1;
#define WEFT_IS_TYPE(letters, type)                                                                          \
  if (std::is_same_v<T, type>) found = number;                                                               \
  ++number;
  WEFT_REDUCTION_TYPES(WEFT_IS_TYPE)
#undef WEFT_IS_TYPE
  if (std::is_same_v<T, std::complex<float>>) return reduction_type<weft_complex_float>();
  if (std::is_same_v<T, std::complex<double>>) return reduction_type<weft_complex_double>();
  if (std::is_same_v<T, std::complex<long double>>) return reduction_type<weft_complex_long_double>();
  return found;
}

// What an element is for a reduction: its number in WEFT_REDUCTION_TYPES or -1, and what it takes.
struct element_kind {
  int number;
  std::uint32_t size;
};
template <class T> constexpr element_kind kind_of() {
  static_assert(std::is_trivially_copyable_v<T>, "elements are copied byte by byte");
  return {reduction_type<T>(), sizeof(T)};
}

template <class T, class F> struct call_of_user {
  const F* f;
  T operator()(const T& a, const T& b) const { return static_cast<T>((*f)(a, b)); }

  using loops = element_loops<T, call_of_user>;
  static call_of_user of(const void* f) { return {static_cast<const F*>(f)}; }
  static void combine(void* into, const void* from, std::size_t count, const void* f) {
    loops::combine(static_cast<T*>(into), static_cast<const T*>(from), count, of(f));
  }
  static void fold(void* into, const void* from, std::size_t count, bool more, const void* f) {
    loops::fold(static_cast<T*>(into), static_cast<const T*>(from), count, more, of(f));
  }
  static void scan(void* to, const void* from, std::size_t count, void* carry, bool more, bool exclusive,
                   const void* f) {
    loops::scan(static_cast<T*>(to), static_cast<const T*>(from), count, static_cast<T*>(carry), more,
                exclusive, of(f));
  }
  static const void* keep(const void* f) { return new F(*static_cast<const F*>(f)); }
  static void release(const void* f) { delete static_cast<const F*>(f); }

  static user_operator table(const F& f) { return {combine, fold, scan, keep, release, &f}; }
};

template <class A>
concept reducible = reduction_type<element_of<A>>()
>= 0;
template <class F, class A>
concept combines = std::is_invocable_r_v < element_of<A>,
const F&, const element_of<A>&, const element_of<A>& > ;

template <class Dst, class Src>
upc_coll_handle_t reduce(reduced what, const Dst& dst, const Src& src, upc_op_t op, std::size_t nelems,
                         const user_operator* f, upc_flag_t sync_mode, upc_team_t team) {
  static_assert(std::is_same_v<element_of<Dst>, element_of<Src>>, "dst and src are of one type");
  const auto from = first_of(src);
  return reduce_elements(what, reduction_type<element_of<Src>>(), first_of(dst), from, op, nelems,
                         from.block(), f, sync_mode, team);
}
template <class Dst, class Src, class F>
upc_coll_handle_t reduce_by(reduced what, const Dst& dst, const Src& src, upc_op_t op, std::size_t nelems,
                            const F& f, upc_flag_t sync_mode, upc_team_t team) {
  const user_operator table = call_of_user<element_of<Src>, F>::table(f);
  return reduce(what, dst, src, op, nelems, &table, sync_mode, team);
}

} // namespace detail

// An operator of the library; one of the program, with op UPC_FUNC if it commutes, else UPC_NONCOMM_FUNC.
template <class Dst, detail::reducible Src>
upc_coll_handle_t upc_all_reduce(const Dst& dst, const Src& src, upc_op_t op, std::size_t nelems,
                                 upc_flag_t sync_mode, upc_team_t team = UPC_TEAM_ALL) {
  return detail::reduce(detail::reduced::value, dst, src, op, nelems, nullptr, sync_mode, team);
}
template <class Dst, detail::reducible Src, detail::combines<Src> F>
upc_coll_handle_t upc_all_reduce(const Dst& dst, const Src& src, upc_op_t op, std::size_t nelems, const F& f,
                                 upc_flag_t sync_mode, upc_team_t team = UPC_TEAM_ALL) {
  return detail::reduce_by(detail::reduced::value, dst, src, op, nelems, f, sync_mode, team);
}

// The same, with the result on every thread: dst has an element of each. In C upc_all_reduce_allT.
template <class Dst, detail::reducible Src>
upc_coll_handle_t upc_all_reduce_all(const Dst& dst, const Src& src, upc_op_t op, std::size_t nelems,
                                     upc_flag_t sync_mode, upc_team_t team = UPC_TEAM_ALL) {
  return detail::reduce(detail::reduced::value_on_all, dst, src, op, nelems, nullptr, sync_mode, team);
}
template <class Dst, detail::reducible Src, detail::combines<Src> F>
upc_coll_handle_t upc_all_reduce_all(const Dst& dst, const Src& src, upc_op_t op, std::size_t nelems,
                                     const F& f, upc_flag_t sync_mode, upc_team_t team = UPC_TEAM_ALL) {
  return detail::reduce_by(detail::reduced::value_on_all, dst, src, op, nelems, f, sync_mode, team);
}

// Element i of dst becomes what op makes of the elements of src up to i. In C upc_all_prefix_reduceT.
template <class Dst, detail::reducible Src>
upc_coll_handle_t upc_all_prefix_reduce(const Dst& dst, const Src& src, upc_op_t op, std::size_t nelems,
                                        upc_flag_t sync_mode, upc_team_t team = UPC_TEAM_ALL) {
  return detail::reduce(detail::reduced::prefixes, dst, src, op, nelems, nullptr, sync_mode, team);
}
template <class Dst, detail::reducible Src, detail::combines<Src> F>
upc_coll_handle_t upc_all_prefix_reduce(const Dst& dst, const Src& src, upc_op_t op, std::size_t nelems,
                                        const F& f, upc_flag_t sync_mode, upc_team_t team = UPC_TEAM_ALL) {
  return detail::reduce_by(detail::reduced::prefixes, dst, src, op, nelems, f, sync_mode, team);
}

} // namespace weft

#if WEFT_GLOBAL_NAMES
using weft::upc_all_prefix_reduce;
using weft::upc_all_reduce;
using weft::upc_all_reduce_all;
#endif
