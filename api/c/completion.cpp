// The C forms of weft/completion.h, like those of c_entries.cpp.
#define WEFT_NO_GLOBAL_NAMES
#include "api/include/weft/completion.h"
#include "api/checks/error_handler.hpp"

using weft::api::guard;

extern "C" {

WEFT_EXPORT int upc_waitany(int count, upc_coll_handle_t* handles) {
  return guard<weft::upc_waitany, -1>(count, handles);
}
WEFT_EXPORT int upc_testany(int count, upc_coll_handle_t* handles) {
  return guard<weft::upc_testany, -1>(count, handles);
}
WEFT_EXPORT void upc_waitall(int count, upc_coll_handle_t* handles) {
  return guard<weft::upc_waitall>(count, handles);
}
WEFT_EXPORT int upc_testall(int count, upc_coll_handle_t* handles) {
  return guard<weft::upc_testall, -1>(count, handles);
}
WEFT_EXPORT int upc_waitsome(int count, upc_coll_handle_t* handles) {
  return guard<weft::upc_waitsome>(count, handles);
}
WEFT_EXPORT int upc_testsome(int count, upc_coll_handle_t* handles) {
  return guard<weft::upc_testsome>(count, handles);
}
WEFT_EXPORT int weft_waitany_for(int count, upc_coll_handle_t* handles, uint64_t nanoseconds) {
  return guard<weft::weft_waitany_for, -1>(count, handles, nanoseconds);
}
WEFT_EXPORT int weft_waitsome_indices(int count, upc_coll_handle_t* handles, int* indices) {
  return guard<weft::weft_waitsome_indices>(count, handles, indices);
}
WEFT_EXPORT int weft_testsome_indices(int count, upc_coll_handle_t* handles, int* indices) {
  return guard<weft::weft_testsome_indices>(count, handles, indices);
}

} // extern "C"
