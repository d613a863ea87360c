// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "access.hpp"
#include "update.hpp"

#include <type_traits>

namespace weft {

// An element of shared memory: reads as a T, is assigned to as a T. `&` gives the pointer back. What `auto`
// deduces is the reference, not a value: get() or a T makes a copy.
template <class T, class Pointer> class reference {
  using value = std::remove_cv_t<T>;
  static constexpr bool writable = !std::is_const_v<T>;

public:
  explicit reference(const Pointer& target) : target_(target) {}
  reference(const reference&) = default;

  operator value() const { return get(); }
  value get() const { return detail::read<T>(target_); }
  Pointer operator&() const { return target_; }

  const reference& operator=(const value& v) const requires writable {
    detail::write<value>(target_, v);
    return *this;
  }
  // Copies the element, like an assignment between lvalues.
  reference& operator=(const reference& other) requires writable {
    detail::write<value>(target_, other.get());
    return *this;
  }

  // Of numbers of 4 and 8 bytes in one, whoever else does so at the same time; of all others, and with an
  // operand that is no whole number where the element is one, a read and then a write.
  template <class U> const reference& operator+=(const U& v) const {
    return combine<UPC_ADD>(v, [&] { return get() + v; });
  }
  template <class U> const reference& operator-=(const U& v) const {
    return combine<UPC_SUB>(v, [&] { return get() - v; });
  }
  template <class U> const reference& operator*=(const U& v) const {
    return combine<UPC_MULT>(v, [&] { return get() * v; });
  }
  template <class U> const reference& operator&=(const U& v) const {
    return combine<UPC_AND>(v, [&] { return get() & v; });
  }
  template <class U> const reference& operator|=(const U& v) const {
    return combine<UPC_OR>(v, [&] { return get() | v; });
  }
  template <class U> const reference& operator^=(const U& v) const {
    return combine<UPC_XOR>(v, [&] { return get() ^ v; });
  }
  const reference& operator++() const { return *this += 1; }
  const reference& operator--() const { return *this -= 1; }
  // Adds, as `+=` does, and returns what was there before.
  value fetch_add(const value& v) const {
    return fetch<UPC_ADD>(v, [&](value x) { return x + v; });
  }
  value operator++(int) const {
    return fetch<UPC_ADD>(1, [](value x) { return x + 1; });
  }
  value operator--(int) const {
    return fetch<UPC_SUB>(1, [](value x) { return x - 1; });
  }

  template <class U> const reference& operator/=(const U& v) const { return *this = value(get() / v); }
  template <class U> const reference& operator%=(const U& v) const { return *this = value(get() % v); }
  template <class U> const reference& operator<<=(const U& v) const { return *this = value(get() << v); }
  template <class U> const reference& operator>>=(const U& v) const { return *this = value(get() >> v); }

private:
  template <upc_op_t op, class U, class Plain> const reference& combine(const U& v, Plain plain) const {
    if constexpr (detail::updated_at_once<value, U>(op)) {
      if (const upc_shared_ptr_t at = target_; at.addr % sizeof(value) == 0) {
        const auto operand = static_cast<value>(v);
        detail::update(at, detail::atomic_type<value>(), op, nullptr, &operand);
        return *this;
      }
    }
    return *this = value(plain());
  }
  // What was there before.
  template <upc_op_t op, class Next> value fetch(const value& v, Next next) const {
    if constexpr (detail::updated_at_once<value, value>(op)) {
      if (const upc_shared_ptr_t at = target_; at.addr % sizeof(value) == 0) {
        value before{};
        detail::update(at, detail::atomic_type<value>(), op, &before, &v);
        return before;
      }
    }
    const value before = get();
    *this = value(next(before));
    return before;
  }

  Pointer target_;
};

} // namespace weft
