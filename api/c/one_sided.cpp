// The C forms of the one-sided collectives, like those of entries.cpp.
#define WEFT_NO_GLOBAL_NAMES
#include "api/checks/error_handler.hpp"
#include "api/include/upc_one_sided.h"

using weft::api::guard;

extern "C" {

WEFT_EXPORT void upc_broadcast(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes) {
  guard<weft::upc_broadcast>(dst, src, nbytes);
}
WEFT_EXPORT void upc_scatter(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes) {
  guard<weft::upc_scatter>(dst, src, nbytes);
}
WEFT_EXPORT void upc_gather(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes) {
  guard<weft::upc_gather>(dst, src, nbytes);
}
WEFT_EXPORT void upc_exchange(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes) {
  guard<weft::upc_exchange>(dst, src, nbytes);
}
WEFT_EXPORT void upc_gather_all(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes) {
  guard<weft::upc_gather_all>(dst, src, nbytes);
}
WEFT_EXPORT void upc_broadcast_in_place(upc_shared_ptr_t both, size_t nbytes) {
  guard<weft::upc_broadcast_in_place>(both, nbytes);
}

WEFT_EXPORT upc_coll_handle_t upc_broadcast_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                 upc_flag_t flags, upc_team_t team) {
  return guard<weft::upc_broadcast_team>(dst, src, nbytes, flags, team);
}
WEFT_EXPORT upc_coll_handle_t upc_scatter_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                               upc_flag_t flags, upc_team_t team) {
  return guard<weft::upc_scatter_team>(dst, src, nbytes, flags, team);
}
WEFT_EXPORT upc_coll_handle_t upc_gather_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                              upc_flag_t flags, upc_team_t team) {
  return guard<weft::upc_gather_team>(dst, src, nbytes, flags, team);
}
WEFT_EXPORT upc_coll_handle_t upc_exchange_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                upc_flag_t flags, upc_team_t team) {
  return guard<weft::upc_exchange_team>(dst, src, nbytes, flags, team);
}
WEFT_EXPORT upc_coll_handle_t upc_gather_all_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                  upc_flag_t flags, upc_team_t team) {
  return guard<weft::upc_gather_all_team>(dst, src, nbytes, flags, team);
}

WEFT_EXPORT upc_coll_handle_t upc_broadcast_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                    upc_flag_t flags, const int* threads, size_t count) {
  return guard<weft::upc_broadcast_threads>(dst, src, nbytes, flags, threads, count);
}
WEFT_EXPORT upc_coll_handle_t upc_scatter_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                  upc_flag_t flags, const int* threads, size_t count) {
  return guard<weft::upc_scatter_threads>(dst, src, nbytes, flags, threads, count);
}
WEFT_EXPORT upc_coll_handle_t upc_gather_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                 upc_flag_t flags, const int* threads, size_t count) {
  return guard<weft::upc_gather_threads>(dst, src, nbytes, flags, threads, count);
}
WEFT_EXPORT upc_coll_handle_t upc_exchange_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                   upc_flag_t flags, const int* threads, size_t count) {
  return guard<weft::upc_exchange_threads>(dst, src, nbytes, flags, threads, count);
}
WEFT_EXPORT upc_coll_handle_t upc_gather_all_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                     size_t nbytes, upc_flag_t flags, const int* threads,
                                                     size_t count) {
  return guard<weft::upc_gather_all_threads>(dst, src, nbytes, flags, threads, count);
}

WEFT_EXPORT void upc_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type, upc_op_t op) {
  guard<weft::upc_reduce>(dst, src, type, op);
}
WEFT_EXPORT upc_coll_handle_t upc_reduce_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type,
                                              upc_op_t op, size_t nelems, size_t blk_size, upc_flag_t flags,
                                              upc_team_t team) {
  return guard<weft::upc_reduce_team>(dst, src, type, op, nelems, blk_size, flags, team);
}
WEFT_EXPORT upc_coll_handle_t upc_reduce_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type,
                                                 upc_op_t op, size_t nelems, size_t blk_size,
                                                 upc_flag_t flags, const int* threads, size_t count) {
  return guard<weft::upc_reduce_threads>(dst, src, type, op, nelems, blk_size, flags, threads, count);
}
WEFT_EXPORT void upc_prefix_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type, upc_op_t op) {
  guard<weft::upc_prefix_reduce>(dst, src, type, op);
}
WEFT_EXPORT upc_coll_handle_t upc_prefix_reduce_team(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                     upc_type_t type, upc_op_t op, size_t nelems,
                                                     size_t blk_size, upc_flag_t flags, upc_team_t team) {
  return guard<weft::upc_prefix_reduce_team>(dst, src, type, op, nelems, blk_size, flags, team);
}
WEFT_EXPORT upc_coll_handle_t upc_prefix_reduce_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                        upc_type_t type, upc_op_t op, size_t nelems,
                                                        size_t blk_size, upc_flag_t flags, const int* threads,
                                                        size_t count) {
  return guard<weft::upc_prefix_reduce_threads>(dst, src, type, op, nelems, blk_size, flags, threads, count);
}
WEFT_EXPORT void upc_xprefix_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type,
                                    upc_op_t op) {
  guard<weft::upc_xprefix_reduce>(dst, src, type, op);
}
WEFT_EXPORT upc_coll_handle_t upc_xprefix_reduce_team(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                      upc_type_t type, upc_op_t op, size_t nelems,
                                                      size_t blk_size, upc_flag_t flags, upc_team_t team) {
  return guard<weft::upc_xprefix_reduce_team>(dst, src, type, op, nelems, blk_size, flags, team);
}
WEFT_EXPORT upc_coll_handle_t upc_xprefix_reduce_threads(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                         upc_type_t type, upc_op_t op, size_t nelems,
                                                         size_t blk_size, upc_flag_t flags,
                                                         const int* threads, size_t count) {
  return guard<weft::upc_xprefix_reduce_threads>(dst, src, type, op, nelems, blk_size, flags, threads, count);
}

} // extern "C"
