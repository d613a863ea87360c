// The C forms of weft/lock.h, like those of entries.cpp.
#define WEFT_NO_GLOBAL_NAMES
#include "api/checks/error_handler.hpp"
#include "api/include/weft/lock.h"

using weft::api::guard;

extern "C" {

WEFT_EXPORT upc_lock_t upc_global_lock_alloc() {
  return guard<weft::upc_global_lock_alloc>();
}
WEFT_EXPORT upc_lock_t upc_all_lock_alloc() {
  return guard<weft::upc_all_lock_alloc>();
}
WEFT_EXPORT void upc_lock_free(upc_lock_t lock) {
  return guard<weft::upc_lock_free>(lock);
}
WEFT_EXPORT void upc_all_lock_free(upc_lock_t lock) {
  return guard<weft::upc_all_lock_free>(lock);
}
WEFT_EXPORT void upc_lock(upc_lock_t lock) {
  return guard<weft::upc_lock>(lock);
}
WEFT_EXPORT int upc_lock_attempt(upc_lock_t lock) {
  return guard<weft::upc_lock_attempt>(lock);
}
WEFT_EXPORT void upc_unlock(upc_lock_t lock) {
  return guard<weft::upc_unlock>(lock);
}

} // extern "C"
