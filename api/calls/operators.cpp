#include "api/calls/operators.hpp"

#include "api/checks/failure.hpp"
#include "api/include/upc_collective_cray.h"

#include <bit>

namespace weft::api {

namespace {

[[noreturn, gnu::cold, gnu::noinline]] void fail_operator(const char* call, upc_op_t op, bool pairs) {
  const std::string last =
      pairs ? "UPC_MAX, CRAY_UPC_MINLOC or CRAY_UPC_MAXLOC" : "UPC_MAX, UPC_FUNC or UPC_NONCOMM_FUNC";
  fail(
      call, "op", std::to_string(op),
      "is no operator of this call: pass UPC_ADD, UPC_MULT, UPC_AND, UPC_OR, UPC_XOR, UPC_LOGAND, UPC_LOGOR, "
      "UPC_MIN, " +
          last);
}

} // namespace

reductions::operation operator_of(const char* call, upc_op_t op, bool pairs) {
  using reductions::operation;
  if (std::has_single_bit(op) && op <= UPC_MAX) return static_cast<operation>(std::countr_zero(op));
  if (pairs && op == CRAY_UPC_MINLOC) return operation::min_location;
  if (pairs && op == CRAY_UPC_MAXLOC) return operation::max_location;
  if (!pairs && op == UPC_FUNC) return operation::function;
  if (!pairs && op == UPC_NONCOMM_FUNC) return operation::ordered_function;
  fail_operator(call, op, pairs);
}

const reductions::kernels& builtin_kernels(const char* call, reductions::element type,
                                           reductions::operation op) {
  const reductions::kernels* const known = reductions::kernels_of(type, op);
  if (known == nullptr)
    fail(
        call, "op", name_of(op),
        "is not defined for this type: complex numbers have no order, bits are combined of integers only, of "
        "_Bool are UPC_LOGAND and UPC_LOGOR, and of pairs CRAY_UPC_MINLOC and CRAY_UPC_MAXLOC");
  return *known;
}

} // namespace weft::api
