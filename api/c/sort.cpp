// The C forms of weft/sort.h, like those of entries.cpp.
#define WEFT_NO_GLOBAL_NAMES
#include "api/include/weft/sort.h"
#include "api/checks/error_handler.hpp"

using weft::api::guard;

namespace {

// Of the forms that C++ has under one name, the one that C has.
using sort = upc_coll_handle_t (*)(upc_shared_ptr_t, size_t, size_t, size_t,
                                   int (*)(upc_shared_ptr_t, upc_shared_ptr_t), upc_flag_t);

} // namespace

extern "C" {

WEFT_EXPORT upc_coll_handle_t upc_all_sort(upc_shared_ptr_t A, size_t elem_size, size_t nelems,
                                           size_t blk_size, int (*func)(upc_shared_ptr_t, upc_shared_ptr_t),
                                           upc_flag_t sync_mode) {
  return guard<static_cast<sort>(weft::upc_all_sort)>(A, elem_size, nelems, blk_size, func, sync_mode);
}
WEFT_EXPORT upc_coll_handle_t upc_all_sort_team(upc_shared_ptr_t A, size_t elem_size, size_t nelems,
                                                size_t blk_size,
                                                int (*func)(upc_shared_ptr_t, upc_shared_ptr_t),
                                                upc_flag_t sync_mode, upc_team_t team) {
  return guard<weft::upc_all_sort_team>(A, elem_size, nelems, blk_size, func, sync_mode, team);
}

} // extern "C"
