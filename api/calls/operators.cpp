// SPDX-License-Identifier: BSD-3-Clause
#include "api/calls/operators.hpp"

#include "api/checks/failure.hpp"
#include "include/upc_collective_cray.h"

#include <bit>

namespace weft::api {

namespace {

// Those that the type has, and those of functions where the call takes one.
std::string known_operators(reductions::element type, operators_with with) {
  std::string all;
  const char* last = nullptr;
  for (std::size_t k = 0; k < reductions::operations; ++k) {
    const auto op = static_cast<reductions::operation>(k);
    const bool function =
        op == reductions::operation::function || op == reductions::operation::ordered_function;
    if (function ? with != operators_with::functions : reductions::kernels_of(type, op) == nullptr) continue;
    if (last != nullptr) all.append(all.empty() ? "" : ", ").append(last);
    last = reductions::name_of(op);
  }
  return all + " or " + last;
}

} // namespace

reductions::operation operator_of(const char* call, upc_op_t op, reductions::element type,
                                  operators_with with) {
  using reductions::operation;
  if (std::has_single_bit(op) && op <= UPC_MAX) return static_cast<operation>(std::countr_zero(op));
  if (with == operators_with::pairs && op == CRAY_UPC_MINLOC) return operation::min_location;
  if (with == operators_with::pairs && op == CRAY_UPC_MAXLOC) return operation::max_location;
  if (with == operators_with::functions && op == UPC_FUNC) return operation::function;
  if (with == operators_with::functions && op == UPC_NONCOMM_FUNC) return operation::ordered_function;
  fail(call, "op", std::to_string(op), "is no operator of this call: pass " + known_operators(type, with));
}

const reductions::kernels& builtin_kernels(const char* call, reductions::element type,
                                           reductions::operation op, operators_with with) {
  const reductions::kernels* const known = reductions::kernels_of(type, op);
  if (known == nullptr)
    fail(call, "op", name_of(op), "is not defined for this type: pass " + known_operators(type, with));
  return *known;
}

} // namespace weft::api
