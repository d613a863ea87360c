// The C forms of weft/reduction.h, like those of entries.cpp.
#define WEFT_NO_GLOBAL_NAMES
#include "api/checks/error_handler.hpp"
#include "api/include/weft/reduction.h"

using weft::api::guard;

namespace {

// Of the forms that C++ has under one name, the one that C has.
template <class Type>
using reduction = upc_coll_handle_t (*)(upc_shared_ptr_t, upc_shared_ptr_t, upc_op_t, size_t, size_t,
                                        Type (*)(Type, Type), upc_flag_t);

} // namespace

#define WEFT_C_REDUCTION(name, type)                                                                         \
  WEFT_REDUCTION(name, type) {                                                                               \
    return guard<static_cast<reduction<type>>(weft::name)>(dst, src, op, nelems, blk_size, func, sync_mode); \
  }                                                                                                          \
  WEFT_TEAM_REDUCTION(name##_team, type) {                                                                   \
    return guard<weft::name##_team>(dst, src, op, nelems, blk_size, func, sync_mode, team);                  \
  }
#define WEFT_C_REDUCTIONS(T, type)                                                                           \
  WEFT_C_REDUCTION(upc_all_reduce##T, type)                                                                  \
  WEFT_C_REDUCTION(upc_all_reduce_all##T, type)                                                              \
  WEFT_C_REDUCTION(upc_all_prefix_reduce##T, type)

extern "C" {
WEFT_REDUCTION_TYPES(WEFT_C_REDUCTIONS)
}
