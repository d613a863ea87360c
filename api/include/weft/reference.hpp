#pragma once
#include "access.hpp"

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

  template <class U> const reference& operator+=(const U& v) const { return *this = value(get() + v); }
  template <class U> const reference& operator-=(const U& v) const { return *this = value(get() - v); }
  template <class U> const reference& operator*=(const U& v) const { return *this = value(get() * v); }
  template <class U> const reference& operator/=(const U& v) const { return *this = value(get() / v); }
  template <class U> const reference& operator%=(const U& v) const { return *this = value(get() % v); }
  template <class U> const reference& operator&=(const U& v) const { return *this = value(get() & v); }
  template <class U> const reference& operator|=(const U& v) const { return *this = value(get() | v); }
  template <class U> const reference& operator^=(const U& v) const { return *this = value(get() ^ v); }
  template <class U> const reference& operator<<=(const U& v) const { return *this = value(get() << v); }
  template <class U> const reference& operator>>=(const U& v) const { return *this = value(get() >> v); }

  const reference& operator++() const { return *this += 1; }
  const reference& operator--() const { return *this -= 1; }
  value operator++(int) const {
    const value before = get();
    *this = value(before + 1);
    return before;
  }
  value operator--(int) const {
    const value before = get();
    *this = value(before - 1);
    return before;
  }

private:
  Pointer target_;
};

} // namespace weft
