// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "access.hpp"
#include "arithmetic.hpp"
#include "reference.hpp"

#include "../upc.h"
#include "../upc_castable.h"

#include <compare>
#include <cstddef>
#include <type_traits>

namespace weft {

// The block size of a ptr or shared_array that is known at run time only.
inline constexpr std::size_t dynamic_block = static_cast<std::size_t>(-1);

namespace detail {

template <std::size_t B> struct block_size {
  constexpr block_size(std::size_t = B) {}
  constexpr operator std::size_t() const { return B; }
};
template <> struct block_size<dynamic_block> {
  constexpr block_size(std::size_t block = 1) : block_(block) { require_block("weft::dynamic_ptr", block); }
  constexpr operator std::size_t() const { return block_; }
  std::size_t block_;
};

} // namespace detail

// `shared [B] T*`, in elements; B = 0 is `shared [] T*`. Arithmetic, difference and order are the language's:
// the phase moves first, then the thread, then the address. Two pointers are equal if they have the same
// target.
//
// Converts from and to the untyped pointer, which stands for `shared void*`, by itself. Casts from another
// block size or element type are explicit and reset the phase. Dereferencing gives a proxy that reads and
// writes the element.
template <class T, std::size_t B = 1> class ptr {
  static constexpr bool fixed = B != dynamic_block;
  static_assert(!fixed || B <= detail::most_block_elems, "a phase counts no more than 2^32 - 1 elements");

public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using difference_type = std::ptrdiff_t;

  constexpr ptr() = default;
  constexpr ptr(std::nullptr_t) {}
  // The phase is kept if the block size allows it.
  constexpr ptr(upc_shared_ptr_t untyped) requires fixed : ptr(untyped, detail::block_size<B>()) {}
  constexpr ptr(upc_shared_ptr_t untyped, std::size_t block) requires(!fixed)
      : ptr(untyped, detail::block_size<B>(block)) {}
  // `shared [B] T*` to `shared [B] const T*`.
  template <class U>
  requires(!std::is_const_v<U> && std::is_same_v<const U, T>) constexpr ptr(const ptr<U, B>& other)
      : ptr(other.untyped(), detail::block_size<B>(other.block())) {}
  // A cast: the phase of the result is 0.
  template <class U, std::size_t C>
  requires(fixed &&
           (C != B ||
            !std::is_same_v<std::remove_cv_t<U>, value_type>)) constexpr explicit ptr(const ptr<U, C>& other)
      : raw_(upc_resetphase(other.untyped())) {}
  template <class U, std::size_t C>
  requires(!fixed) constexpr ptr(const ptr<U, C>& other, std::size_t block)
      : raw_(upc_resetphase(other.untyped())), block_(block) {}

  constexpr operator upc_shared_ptr_t() const { return raw_; }
  constexpr upc_shared_ptr_t untyped() const { return raw_; }
  constexpr explicit operator bool() const { return raw_.addr != 0 || raw_.thread != 0; }

  constexpr std::size_t block() const { return block_; }
  constexpr std::size_t threadof() const { return raw_.thread; }
  constexpr std::size_t phaseof() const { return raw_.phase; }
  constexpr std::size_t addrfield() const { return raw_.addr; }

  // The private address of the target, or null if this thread cannot reach it by loads and stores.
  T* local() const { return static_cast<T*>(upc_cast(raw_)); }

  reference<T, ptr> operator*() const { return reference<T, ptr>(*this); }
  reference<T, ptr> operator[](std::ptrdiff_t i) const { return *(*this + i); }
  detail::visit<T> operator->() const { return detail::visit<T>(raw_); }

  ptr& operator+=(std::ptrdiff_t inc) {
    const std::int64_t threads = block() == 0 ? 1 : upc_threads();
    raw_ = detail::advance("weft::ptr", raw_, block(), sizeof(T), inc, threads);
    return *this;
  }
  ptr& operator-=(std::ptrdiff_t dec) { return *this += -dec; }
  ptr& operator++() { return *this += 1; }
  ptr& operator--() { return *this += -1; }
  ptr operator++(int) {
    const ptr before = *this;
    ++*this;
    return before;
  }
  ptr operator--(int) {
    const ptr before = *this;
    --*this;
    return before;
  }
  friend ptr operator+(ptr p, std::ptrdiff_t inc) { return p += inc; }
  friend ptr operator+(std::ptrdiff_t inc, ptr p) { return p += inc; }
  friend ptr operator-(ptr p, std::ptrdiff_t dec) { return p -= dec; }
  friend std::ptrdiff_t operator-(const ptr& a, const ptr& b) {
    const std::int64_t threads = a.block() == 0 ? 1 : upc_threads();
    return detail::distance("weft::ptr", a.raw_, b.raw_, a.block(), sizeof(T), threads);
  }
  friend constexpr bool operator==(const ptr& a, const ptr& b) { return upc_ptreq(a.raw_, b.raw_) != 0; }
  friend std::strong_ordering operator<=>(const ptr& a, const ptr& b) { return a - b <=> 0; }

private:
  constexpr ptr(upc_shared_ptr_t untyped, detail::block_size<B> block) : raw_(untyped), block_(block) {
    if (raw_.phase >= block) raw_.phase = 0;
  }

  upc_shared_ptr_t raw_{};
  [[no_unique_address]] detail::block_size<B> block_;
};

// `shared [block] T*` with a block size that is known at run time only.
template <class T> using dynamic_ptr = ptr<T, dynamic_block>;

} // namespace weft
