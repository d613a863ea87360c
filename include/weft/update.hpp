// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../upc_atomic.h"

#include <type_traits>

namespace weft::detail {

// The number of a type that has atomic operations; 0: none.
template <class T> consteval upc_type_t atomic_type() {
  if (std::is_same_v<T, upc_shared_ptr_t>) return UPC_PTS;
  if (std::is_same_v<T, float>) return UPC_FLOAT;
  if (std::is_same_v<T, double>) return UPC_DOUBLE;
  if (!std::is_integral_v<T> || std::is_same_v<T, bool>) return 0;
  if (sizeof(T) == 4) return std::is_signed_v<T> ? UPC_INT32 : UPC_UINT32;
  if (sizeof(T) == 8) return std::is_signed_v<T> ? UPC_INT64 : UPC_UINT64;
  return 0;
}

// Whether an element of type T takes an operand of type U in one: the operand becomes a T first.
template <class T, class U> consteval bool updated_at_once(upc_op_t op) {
  if (atomic_type<T>() == 0 || !std::is_arithmetic_v<T> || !std::is_arithmetic_v<U>) return false;
  return std::is_integral_v<T> ? std::is_integral_v<U> : (op & (UPC_AND | UPC_OR | UPC_XOR)) == 0;
}

// An atomic operation on an aligned element, without a domain; `before`: null, or where its value goes that
// was there. Errors: those of an element's access.
WEFT_EXPORT void update(upc_shared_ptr_t target, upc_type_t type, upc_op_t op, void* before,
                        const void* operand);

} // namespace weft::detail
