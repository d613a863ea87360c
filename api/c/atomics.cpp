// The C forms of upc_atomic.h, like those of entries.cpp.
#define WEFT_NO_GLOBAL_NAMES
#include "api/checks/error_handler.hpp"
#include "api/include/upc_atomic.h"

using weft::api::guard;

extern "C" {

WEFT_EXPORT upc_atomicdomain_t upc_all_atomicdomain_alloc(upc_type_t type, upc_op_t ops,
                                                          upc_atomichint_t hints) {
  return guard<weft::upc_all_atomicdomain_alloc>(type, ops, hints);
}
WEFT_EXPORT void upc_all_atomicdomain_free(upc_atomicdomain_t domain) {
  return guard<weft::upc_all_atomicdomain_free>(domain);
}
WEFT_EXPORT void upc_atomic_relaxed(upc_atomicdomain_t domain, void* fetch_ptr, upc_op_t op,
                                    upc_shared_ptr_t target, const void* operand1, const void* operand2) {
  return guard<weft::upc_atomic_relaxed>(domain, fetch_ptr, op, target, operand1, operand2);
}
WEFT_EXPORT void upc_atomic_strict(upc_atomicdomain_t domain, void* fetch_ptr, upc_op_t op,
                                   upc_shared_ptr_t target, const void* operand1, const void* operand2) {
  return guard<weft::upc_atomic_strict>(domain, fetch_ptr, op, target, operand1, operand2);
}
WEFT_EXPORT int upc_atomic_isfast(upc_type_t type, upc_op_t ops, upc_shared_ptr_t addr) {
  return guard<weft::upc_atomic_isfast>(type, ops, addr);
}
WEFT_EXPORT int upc_atomic_query(upc_type_t type, upc_op_t ops, upc_shared_ptr_t addr) {
  return guard<weft::upc_atomic_query>(type, ops, addr);
}

} // extern "C"
