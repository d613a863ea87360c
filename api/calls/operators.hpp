#pragma once
#include "api/include/weft/reduction.hpp"
#include "engine/reductions/names.hpp"

namespace weft::api {

// What an argument op says; an error where it is no operator of the library. `pairs`: where those of pairs
// are operators, too.
reductions::operation operator_of(const char* call, upc_op_t op, bool pairs = false);

// The kernels of an operator of the library; an error where it is not defined for the type.
const reductions::kernels& builtin_kernels(const char* call, reductions::element type,
                                           reductions::operation op);

// Those of a callable.
inline reductions::kernels kernels_of(const detail::user_operator& f) {
  return {f.combine, f.fold, f.scan};
}

} // namespace weft::api
