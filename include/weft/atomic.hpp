// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "update.hpp"

#include <exception>
#include <utility>

namespace weft {

namespace detail {
// upc_all_atomicdomain_free; nothing behind the end of the library. An error ends the job with its line.
WEFT_EXPORT void free_domain(upc_atomicdomain_t domain) noexcept;
} // namespace detail

// A domain of all operations that the type has, by name. What an operation returns was there before. Relaxed,
// unless the domain is a strict one. Made and freed by all threads together:
//
//   weft::atomic_domain<long> atomics;
//   const long ticket = atomics.inc(&counter[0]);
template <class T> class atomic_domain {
  static_assert(detail::atomic_type<T>() != 0, "no type with atomic operations");
  static constexpr upc_op_t access = UPC_GET | UPC_SET | UPC_CSWAP;
  static constexpr upc_op_t numeric = UPC_ADD | UPC_SUB | UPC_MULT | UPC_MIN | UPC_MAX | UPC_INC | UPC_DEC;
  static constexpr upc_op_t bitwise = UPC_AND | UPC_OR | UPC_XOR;

public:
  static constexpr upc_op_t all =
      access | (std::is_arithmetic_v<T> ? numeric : 0) | (std::is_integral_v<T> ? bitwise : 0);
  enum class order : bool { relaxed, strict };

  explicit atomic_domain(order how = order::relaxed)
      : domain_(upc_all_atomicdomain_alloc(detail::atomic_type<T>(), all, UPC_ATOMIC_HINT_DEFAULT)),
        how_(how) {}
  atomic_domain(const atomic_domain&) = delete;
  atomic_domain& operator=(const atomic_domain&) = delete;
  // Collective, like the destructor, which frees what has not been freed.
  void free() { upc_all_atomicdomain_free(std::exchange(domain_, 0)); }
  ~atomic_domain() {
    if (domain_ != 0 && std::uncaught_exceptions() == exceptions_) detail::free_domain(domain_);
  }
  upc_atomicdomain_t native_handle() const { return domain_; }

  T get(upc_shared_ptr_t target) const { return fetch(UPC_GET, target, nullptr, nullptr); }
  T set(upc_shared_ptr_t target, T value) const { return fetch(UPC_SET, target, &value, nullptr); }
  T cswap(upc_shared_ptr_t target, T expected, T value) const {
    return fetch(UPC_CSWAP, target, &expected, &value);
  }
  T add(upc_shared_ptr_t target, T value) const { return fetch(UPC_ADD, target, &value, nullptr); }
  T sub(upc_shared_ptr_t target, T value) const { return fetch(UPC_SUB, target, &value, nullptr); }
  T mult(upc_shared_ptr_t target, T value) const { return fetch(UPC_MULT, target, &value, nullptr); }
  T min(upc_shared_ptr_t target, T value) const { return fetch(UPC_MIN, target, &value, nullptr); }
  T max(upc_shared_ptr_t target, T value) const { return fetch(UPC_MAX, target, &value, nullptr); }
  T inc(upc_shared_ptr_t target) const { return fetch(UPC_INC, target, nullptr, nullptr); }
  T dec(upc_shared_ptr_t target) const { return fetch(UPC_DEC, target, nullptr, nullptr); }
  T bit_and(upc_shared_ptr_t target, T value) const { return fetch(UPC_AND, target, &value, nullptr); }
  T bit_or(upc_shared_ptr_t target, T value) const { return fetch(UPC_OR, target, &value, nullptr); }
  T bit_xor(upc_shared_ptr_t target, T value) const { return fetch(UPC_XOR, target, &value, nullptr); }

private:
  T fetch(upc_op_t op, upc_shared_ptr_t target, const void* operand1, const void* operand2) const {
    T before{};
    if (how_ == order::strict)
      upc_atomic_strict(domain_, &before, op, target, operand1, operand2);
    else
      upc_atomic_relaxed(domain_, &before, op, target, operand1, operand2);
    return before;
  }

  upc_atomicdomain_t domain_;
  order how_;
  int exceptions_ = std::uncaught_exceptions();
};

} // namespace weft
