// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/reductions/names.hpp"
#include "include/weft/reduction.hpp"

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

} // namespace weft::api
