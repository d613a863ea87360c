// SPDX-License-Identifier: BSD-3-Clause
#include "progress/control/atomic_operation.hpp"

#include <atomic>
#include <cstring>
#include <type_traits>

namespace weft::control {

namespace {

template <class T> T as(const atomic_value& v) {
  T value;
  std::memcpy(&value, &v, sizeof value);
  return value;
}
template <class T> atomic_value value_of(const T& v) {
  atomic_value value{};
  std::memcpy(&value, &v, sizeof v);
  return value;
}

// Integers wrap.
template <class T> auto wrapping(T x) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<std::make_unsigned_t<T>>(x);
  else
    return x;
}

template <class T> T combined(atomic_kind k, T x, T a, T b) {
  switch (k) {
  case atomic_kind::get:
    return x;
  case atomic_kind::set:
    return a;
  case atomic_kind::cswap:
    return x == a ? b : x;
  case atomic_kind::add:
    return static_cast<T>(wrapping(x) + wrapping(a));
  case atomic_kind::sub:
    return static_cast<T>(wrapping(x) - wrapping(a));
  case atomic_kind::mult:
    return static_cast<T>(wrapping(x) * wrapping(a));
  case atomic_kind::min:
    return a < x ? a : x;
  case atomic_kind::max:
    return x < a ? a : x;
  case atomic_kind::inc:
    return static_cast<T>(wrapping(x) + 1);
  case atomic_kind::dec:
    return static_cast<T>(wrapping(x) - 1);
  default:
    break;
  }
  if constexpr (std::is_integral_v<T>) {
    if (k == atomic_kind::and_) return x & a;
    if (k == atomic_kind::or_) return x | a;
    return x ^ a;
  }
  return x;
}

template <class T> T apply_word(T* at, atomic_kind k, T a, T b) {
  const std::atomic_ref<T> word(*at);
  static_assert(std::atomic_ref<T>::is_always_lock_free, "the word is shared between processes");
  if (k == atomic_kind::get) return word.load();
  if (k == atomic_kind::set) return word.exchange(a);
  if constexpr (std::is_integral_v<T>) {
    if (k == atomic_kind::add) return word.fetch_add(a);
    if (k == atomic_kind::inc) return word.fetch_add(1);
    if (k == atomic_kind::dec) return word.fetch_sub(1);
  }
  T seen = word.load();
  while (!word.compare_exchange_weak(seen, combined(k, seen, a, b))) {
  }
  return seen;
}

template <class T> atomic_value apply_as(std::byte* at, const atomic_operation& op) {
  return value_of(apply_word(reinterpret_cast<T*>(at), op.kind, as<T>(op.operand1), as<T>(op.operand2)));
}

// {address, thread and phase}: a pointer equals another one whatever their phases.
atomic_value apply_to_pointer(std::byte* at, const atomic_operation& op) {
  struct pointer {
    std::uint64_t address;
    std::uint32_t thread, phase;
    bool equals(const pointer& o) const { return address == o.address && thread == o.thread; }
  };
  static_assert(sizeof(pointer) == sizeof(atomic_value));
  atomic_value before;
  std::memcpy(&before, at, sizeof before);
  const bool same = as<pointer>(before).equals(as<pointer>(op.operand1));
  if (op.kind == atomic_kind::set) std::memcpy(at, &op.operand1, sizeof before);
  if (op.kind == atomic_kind::cswap && same) std::memcpy(at, &op.operand2, sizeof before);
  return before;
}

} // namespace

atomic_value apply(std::byte* at, const atomic_operation& op) noexcept {
  switch (op.type) {
  case atomic_type::i32:
    return apply_as<std::int32_t>(at, op);
  case atomic_type::u32:
    return apply_as<std::uint32_t>(at, op);
  case atomic_type::i64:
    return apply_as<std::int64_t>(at, op);
  case atomic_type::u64:
    return apply_as<std::uint64_t>(at, op);
  case atomic_type::f32:
    return apply_as<float>(at, op);
  case atomic_type::f64:
    return apply_as<double>(at, op);
  case atomic_type::pointer:
    break;
  }
  return apply_to_pointer(at, op);
}

} // namespace weft::control
