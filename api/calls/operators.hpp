// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/task.hpp"
#include "engine/reductions/names.hpp"
#include "engine/reductions/vector_reduction.hpp"
#include "include/upc_collective_cray.h"
#include "include/weft/reduction.hpp"

#include <cstddef>

namespace weft::api {

// What a call takes besides the operators of numbers.
enum class operators_with : std::uint8_t { nothing, functions, pairs };

// What an argument op says; an error that names the operators of the type where the call has no such one.
reductions::operation operator_of(const char* call, upc_op_t op, reductions::element type,
                                  operators_with with);

// The kernels of an operator of the library; an error where it is not defined for the type.
const reductions::kernels& builtin_kernels(const char* call, reductions::element type,
                                           reductions::operation op, operators_with with);

// Those of a callable.
inline reductions::kernels kernels_of(const detail::user_operator& f) {
  return {f.combine, f.fold, f.scan};
}

// An operator that the program has made, as a call uses it.
struct used_operator {
  reductions::kernels how{};
  const void* argument = nullptr;
  bool commutes = false;
};

// Whether the program may have made it.
constexpr bool is_made(upc_op_t op) {
  return op >> 31 != 0;
}

// Held until it is given back. Errors: none such, or it was freed; it is of elements of a size, and dtype is
// not WEFT_OPAQUE, or the other way round.
used_operator hold_operator(const char* call, upc_op_t op, cray_upc_dtype_t dtype);
void give_back_operator(const void* argument);

// The bytes of its elements; errors as above.
std::size_t size_of_elements(const char* call, upc_op_t op);

} // namespace weft::api
