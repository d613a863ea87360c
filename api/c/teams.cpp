// The C forms of the teams of upc_collective_cray.h, like those of c_entries.cpp.
#define WEFT_NO_GLOBAL_NAMES
#include "api/checks/error_handler.hpp"
#include "api/include/upc_collective_cray.h"

using weft::api::guard;

extern "C" {

WEFT_EXPORT upc_handle_t cray_upc_team_barrier_nb(cray_upc_team_t team) {
  return guard<weft::cray_upc_team_barrier_nb>(team);
}
WEFT_EXPORT cray_upc_return_t cray_upc_team_split(cray_upc_team_t team, int color, int key,
                                                  cray_upc_team_t* new_team) {
  return guard<weft::cray_upc_team_split, CRAY_UPC_ERROR>(team, color, key, new_team);
}
WEFT_EXPORT cray_upc_return_t cray_upc_team_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nelems,
                                                   cray_upc_dtype_t dtype, upc_op_t op, int root,
                                                   cray_upc_team_t team, upc_handle_t* handle) {
  return guard<weft::cray_upc_team_reduce, CRAY_UPC_ERROR>(dst, src, nelems, dtype, op, root, team, handle);
}
WEFT_EXPORT cray_upc_return_t cray_upc_team_allreduce(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                      size_t nelems, cray_upc_dtype_t dtype, upc_op_t op,
                                                      cray_upc_team_t team, upc_handle_t* handle) {
  return guard<weft::cray_upc_team_allreduce, CRAY_UPC_ERROR>(dst, src, nelems, dtype, op, team, handle);
}
WEFT_EXPORT int cray_upc_team_rank(cray_upc_team_t team) {
  return guard<weft::cray_upc_team_rank, -1>(team);
}
WEFT_EXPORT int cray_upc_team_size(cray_upc_team_t team) {
  return guard<weft::cray_upc_team_size>(team);
}
WEFT_EXPORT void cray_upc_team_free(cray_upc_team_t team) {
  return guard<weft::cray_upc_team_free>(team);
}

} // extern "C"
