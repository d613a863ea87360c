// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/dice.hpp"

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <functional>
#include <type_traits>
#include <vector>
#include <weft/weft.hpp>

// What the elements of a random reduction are, and what a serial fold makes of them. All values are chosen so
// that every result is exact, whatever the brackets: an element that counts twice, not at all, or in another
// place of an operator that does not commute, shows.
namespace reductions {

template <class T> inline constexpr bool is_complex = requires {
  typename T::value_type;
};
template <class T> inline constexpr bool is_integer = std::is_integral_v<T> && !std::is_same_v<T, bool>;

template <class T> T element(std::uint64_t key, std::uint64_t index, upc_op_t op) {
  const std::uint64_t x = calls::mix(key ^ index * 0x2545f4914f6cdd1d);
  if constexpr (std::is_same_v<T, bool>) {
    return x % 3 != 0;
  } else if constexpr (is_complex<T>) {
    using part = typename T::value_type;
    constexpr part units[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    if (op == UPC_MULT) return T(units[x % 4][0], units[x % 4][1]);
    return T(static_cast<part>(x % 9) - 4, static_cast<part>(x / 9 % 9) - 4);
  } else if constexpr (is_integer<T>) {
    return static_cast<T>(op == UPC_MULT || op == UPC_NONCOMM_FUNC ? x | 1 : x);
  } else {
    if (op == UPC_MULT) return x % 2 == 0 ? T(-1) : T(1);
    if (op == UPC_NONCOMM_FUNC) return static_cast<T>(x % 4096);
    if (op == UPC_LOGAND || op == UPC_LOGOR) return static_cast<T>(x % 2);
    return static_cast<T>(x % 17) - 8;
  }
}

// The user's functions.
template <class T> T commuting(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a != b;
  } else if constexpr (is_integer<T>) {
    const auto x = static_cast<unsigned long long>(a), y = static_cast<unsigned long long>(b);
    return static_cast<T>(x + y + x * y);
  } else {
    return a + b;
  }
}
// Integers: the affine maps x -> a*x + b, one after the other, a half of the bits each. Others keep the upper
// part of the first and the lower part of the last.
template <class T> T ordered(T a, T b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a;
  } else if constexpr (is_integer<T>) {
    constexpr unsigned half = sizeof(T) * 4;
    using word = unsigned long long;
    constexpr word low = (word{1} << half) - 1;
    const word f = static_cast<word>(a), g = static_cast<word>(b);
    const word fa = f & low, fb = f >> half & low, ga = g & low, gb = g >> half & low;
    return static_cast<T>(((ga * fb + gb) & low) << half | (ga * fa & low));
  } else if constexpr (is_complex<T>) {
    return T(a.real(), b.imag());
  } else {
    const auto x = static_cast<long>(a), y = static_cast<long>(b);
    return static_cast<T>(x / 64 * 64 + y % 64);
  }
}

template <class T> T apply(upc_op_t op, T a, T b) {
  if (op == UPC_FUNC) return commuting(a, b);
  if (op == UPC_NONCOMM_FUNC) return ordered(a, b);
  if (op == UPC_LOGAND) return static_cast<T>(a != T{} && b != T{});
  if (op == UPC_LOGOR) return static_cast<T>(a != T{} || b != T{});
  if constexpr (is_integer<T>) {
    using word = unsigned long long;
    if (op == UPC_ADD) return static_cast<T>(static_cast<word>(a) + static_cast<word>(b));
    if (op == UPC_MULT) return static_cast<T>(static_cast<word>(a) * static_cast<word>(b));
    if (op == UPC_AND) return static_cast<T>(a & b);
    if (op == UPC_OR) return static_cast<T>(a | b);
    if (op == UPC_XOR) return static_cast<T>(a ^ b);
  } else if constexpr (!std::is_same_v<T, bool>) {
    if (op == UPC_ADD) return a + b;
    if (op == UPC_MULT) return a * b;
  }
  if constexpr (!is_complex<T>) return op == UPC_MIN ? (b < a ? b : a) : (b > a ? b : a);
  return a;
}

template <class T> std::vector<upc_op_t> operators() {
  if constexpr (std::is_same_v<T, bool>) return {UPC_LOGAND, UPC_LOGOR, UPC_FUNC, UPC_NONCOMM_FUNC};
  if constexpr (is_complex<T>) return {UPC_ADD, UPC_MULT, UPC_LOGAND, UPC_LOGOR, UPC_FUNC, UPC_NONCOMM_FUNC};
  if constexpr (is_integer<T>)
    return {UPC_ADD,   UPC_MULT, UPC_AND, UPC_OR,   UPC_XOR,         UPC_LOGAND,
            UPC_LOGOR, UPC_MIN,  UPC_MAX, UPC_FUNC, UPC_NONCOMM_FUNC};
  return {UPC_ADD, UPC_MULT, UPC_LOGAND, UPC_LOGOR, UPC_MIN, UPC_MAX, UPC_FUNC, UPC_NONCOMM_FUNC};
}

// Bytes that a value has.
template <class T> bool same(const T& a, const T& b) {
  return a == b;
}

// The three functions of a type, with its C function or, of complex numbers, a callable.
struct functions {
  using reduction = upc_coll_handle_t (*)(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_op_t op,
                                          std::size_t nelems, std::size_t blk_size, upc_flag_t mode,
                                          upc_team_t team);
  reduction reduce, reduce_all, prefix;
};

template <class T> T (*function_of(upc_op_t op))(T, T) {
  if (op == UPC_FUNC) return commuting<T>;
  return op == UPC_NONCOMM_FUNC ? ordered<T> : nullptr;
}

#define REDUCTIONS_OF(T, type)                                                                               \
  template <>                                                                                                \
  inline constexpr functions functions_of<type> = {                                                          \
      [](auto dst, auto src, auto op, auto n, auto b, auto mode, auto team) {                                \
        const auto f = function_of<type>(op);                                                                \
        return team == UPC_TEAM_ALL ? upc_all_reduce##T(dst, src, op, n, b, f, mode)                         \
                                    : upc_all_reduce##T(dst, src, op, n, b, f, mode, team);                  \
      },                                                                                                     \
      [](auto dst, auto src, auto op, auto n, auto b, auto mode, auto team) {                                \
        const auto f = function_of<type>(op);                                                                \
        return team == UPC_TEAM_ALL ? upc_all_reduce_all##T(dst, src, op, n, b, f, mode)                     \
                                    : upc_all_reduce_all##T##_team(dst, src, op, n, b, f, mode, team);       \
      },                                                                                                     \
      [](auto dst, auto src, auto op, auto n, auto b, auto mode, auto team) {                                \
        const auto f = function_of<type>(op);                                                                \
        return team == UPC_TEAM_ALL ? upc_all_prefix_reduce##T(dst, src, op, n, b, f, mode)                  \
                                    : upc_all_prefix_reduce##T(dst, src, op, n, b, f, mode, team);           \
      }};
template <class T> inline constexpr functions functions_of = {};
REDUCTIONS_OF(C, signed char)
REDUCTIONS_OF(UC, unsigned char)
REDUCTIONS_OF(S, short)
REDUCTIONS_OF(US, unsigned short)
REDUCTIONS_OF(I, int)
REDUCTIONS_OF(UI, unsigned)
REDUCTIONS_OF(L, long)
REDUCTIONS_OF(UL, unsigned long)
REDUCTIONS_OF(F, float)
REDUCTIONS_OF(D, double)
REDUCTIONS_OF(LD, long double)
REDUCTIONS_OF(LL, long long)
REDUCTIONS_OF(ULL, unsigned long long)
REDUCTIONS_OF(B, bool)
#undef REDUCTIONS_OF

// By typed pointers, with callables that have a state.
template <class T> struct by_template {
  static constexpr auto function(upc_op_t op) {
    return [op](const T& a, const T& b) { return op == UPC_FUNC ? commuting(a, b) : ordered(a, b); };
  }
  static upc_coll_handle_t reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_op_t op, std::size_t n,
                                  std::size_t b, upc_flag_t mode, upc_team_t team) {
    const weft::ptr<T> to(dst);
    const weft::dynamic_ptr<const T> from(src, b);
    if (op < UPC_FUNC) return upc_all_reduce(to, from, op, n, mode, team);
    return upc_all_reduce(to, from, op, n, function(op), mode, team);
  }
  static upc_coll_handle_t reduce_all(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_op_t op, std::size_t n,
                                      std::size_t b, upc_flag_t mode, upc_team_t team) {
    const weft::ptr<T> to(dst);
    const weft::dynamic_ptr<const T> from(src, b);
    if (op < UPC_FUNC) return upc_all_reduce_all(to, from, op, n, mode, team);
    return upc_all_reduce_all(to, from, op, n, function(op), mode, team);
  }
  static upc_coll_handle_t prefix(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_op_t op, std::size_t n,
                                  std::size_t b, upc_flag_t mode, upc_team_t team) {
    const weft::dynamic_ptr<T> to(dst, b);
    const weft::dynamic_ptr<const T> from(src, b);
    if (op < UPC_FUNC) return upc_all_prefix_reduce(to, from, op, n, mode, team);
    return upc_all_prefix_reduce(to, from, op, n, function(op), mode, team);
  }
};
template <class T>
constexpr functions typed_functions{by_template<T>::reduce, by_template<T>::reduce_all,
                                    by_template<T>::prefix};

} // namespace reductions
