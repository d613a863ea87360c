// SPDX-License-Identifier: BSD-3-Clause
// The C forms of the collectives and of teams, like those of entries.cpp.
#define WEFT_NO_GLOBAL_NAMES
#include "api/checks/failure.hpp"
#include "include/upc_collective.h"
#include "include/upc_collective_cray.h"
#include "include/upc_one_sided.h"
#include "include/weft/reduction.h"
#include "include/weft/sort.h"

using weft::api::guard;

namespace {

// Of the forms that C++ has under one name, the one that C has.
using relocation = upc_coll_handle_t (*)(upc_shared_ptr_t, upc_shared_ptr_t, size_t, upc_flag_t);
using permutation = upc_coll_handle_t (*)(upc_shared_ptr_t, upc_shared_ptr_t, upc_shared_ptr_t, size_t,
                                          upc_flag_t);
using permutation_x = upc_coll_handle_t (*)(upc_shared_ptr_t, upc_shared_ptr_t, upc_shared_ptr_t,
                                            upc_shared_ptr_t, upc_flag_t, upc_team_t);

} // namespace

extern "C" {

// upc_collective.h
WEFT_EXPORT upc_coll_handle_t upc_all_broadcast(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                upc_flag_t sync_mode) {
  return guard<static_cast<relocation>(weft::upc_all_broadcast)>(dst, src, nbytes, sync_mode);
}
WEFT_EXPORT upc_coll_handle_t upc_all_broadcast_team(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                     size_t nbytes, upc_flag_t sync_mode, upc_team_t team) {
  return guard<weft::upc_all_broadcast_team>(dst, src, nbytes, sync_mode, team);
}
WEFT_EXPORT upc_coll_handle_t upc_all_scatter(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                              upc_flag_t sync_mode) {
  return guard<static_cast<relocation>(weft::upc_all_scatter)>(dst, src, nbytes, sync_mode);
}
WEFT_EXPORT upc_coll_handle_t upc_all_scatter_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                   upc_flag_t sync_mode, upc_team_t team) {
  return guard<weft::upc_all_scatter_team>(dst, src, nbytes, sync_mode, team);
}
WEFT_EXPORT upc_coll_handle_t upc_all_gather(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                             upc_flag_t sync_mode) {
  return guard<static_cast<relocation>(weft::upc_all_gather)>(dst, src, nbytes, sync_mode);
}
WEFT_EXPORT upc_coll_handle_t upc_all_gather_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                  upc_flag_t sync_mode, upc_team_t team) {
  return guard<weft::upc_all_gather_team>(dst, src, nbytes, sync_mode, team);
}
WEFT_EXPORT upc_coll_handle_t upc_all_gather_all(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                 upc_flag_t sync_mode) {
  return guard<static_cast<relocation>(weft::upc_all_gather_all)>(dst, src, nbytes, sync_mode);
}
WEFT_EXPORT upc_coll_handle_t upc_all_gather_all_team(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                      size_t nbytes, upc_flag_t sync_mode, upc_team_t team) {
  return guard<weft::upc_all_gather_all_team>(dst, src, nbytes, sync_mode, team);
}
WEFT_EXPORT upc_coll_handle_t upc_all_exchange(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                               upc_flag_t sync_mode) {
  return guard<static_cast<relocation>(weft::upc_all_exchange)>(dst, src, nbytes, sync_mode);
}
WEFT_EXPORT upc_coll_handle_t upc_all_exchange_team(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                    upc_flag_t sync_mode, upc_team_t team) {
  return guard<weft::upc_all_exchange_team>(dst, src, nbytes, sync_mode, team);
}
WEFT_EXPORT upc_coll_handle_t upc_all_permute(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                              upc_shared_ptr_t perm, size_t nbytes, upc_flag_t sync_mode) {
  return guard<static_cast<permutation>(weft::upc_all_permute)>(dst, src, perm, nbytes, sync_mode);
}
WEFT_EXPORT upc_coll_handle_t upc_all_permute_team(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                   upc_shared_ptr_t perm, size_t nbytes, upc_flag_t sync_mode,
                                                   upc_team_t team) {
  return guard<weft::upc_all_permute_team>(dst, src, perm, nbytes, sync_mode, team);
}
WEFT_EXPORT int weft_team_with(const weft_exchange_t* exchange, upc_team_t* new_team) {
  return guard<weft::weft_team_with, -1>(exchange, new_team);
}
WEFT_EXPORT int weft_team_thread(upc_team_t team, int rank) {
  return guard<weft::weft_team_thread, -1>(team, rank);
}
WEFT_EXPORT int weft_team_rank_of(upc_team_t team, int thread) {
  return guard<weft::weft_team_rank_of, -1>(team, thread);
}
WEFT_EXPORT int weft_team_from_threads(upc_team_t parent, int count, const int* threads,
                                       upc_team_t* new_team) {
  return guard<weft::weft_team_from_threads, -1>(parent, count, threads, new_team);
}

// weft/collective_x.h
WEFT_EXPORT upc_coll_handle_t upc_all_broadcast_x(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                                  upc_flag_t sync_mode, upc_team_t team) {
  return guard<weft::upc_all_broadcast_x>(dst, src, nbytes, sync_mode, team);
}
WEFT_EXPORT upc_coll_handle_t upc_all_scatter_x(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                upc_shared_ptr_t nbytes, upc_flag_t sync_mode,
                                                upc_team_t team) {
  return guard<weft::upc_all_scatter_x>(dst, src, nbytes, sync_mode, team);
}
WEFT_EXPORT upc_coll_handle_t upc_all_gather_x(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                               upc_shared_ptr_t nbytes, upc_flag_t sync_mode,
                                               upc_team_t team) {
  return guard<weft::upc_all_gather_x>(dst, src, nbytes, sync_mode, team);
}
WEFT_EXPORT upc_coll_handle_t upc_all_gather_all_x(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                   upc_shared_ptr_t nbytes, upc_flag_t sync_mode,
                                                   upc_team_t team) {
  return guard<weft::upc_all_gather_all_x>(dst, src, nbytes, sync_mode, team);
}
WEFT_EXPORT upc_coll_handle_t upc_all_exchange_x(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                 upc_shared_ptr_t nbytes, upc_flag_t sync_mode,
                                                 upc_team_t team) {
  return guard<weft::upc_all_exchange_x>(dst, src, nbytes, sync_mode, team);
}
WEFT_EXPORT upc_coll_handle_t weft_all_move_x(weft_movement_t what, upc_shared_ptr_t dst,
                                              upc_shared_ptr_t src, size_t nbytes, int root,
                                              upc_flag_t sync_mode, upc_team_t team) {
  return guard<weft::weft_all_move_x>(what, dst, src, nbytes, root, sync_mode, team);
}
WEFT_EXPORT size_t weft_message_bytes(upc_team_t team) {
  return guard<weft::weft_message_bytes>(team);
}
WEFT_EXPORT upc_coll_handle_t upc_all_permute_x(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                upc_shared_ptr_t perm, upc_shared_ptr_t nbytes,
                                                upc_flag_t sync_mode, upc_team_t team) {
  return guard<static_cast<permutation_x>(weft::upc_all_permute_x)>(dst, src, perm, nbytes, sync_mode, team);
}
WEFT_EXPORT upc_coll_handle_t upc_all_permute_xi(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                 upc_shared_ptr_t perm, upc_shared_ptr_t nbytes,
                                                 upc_flag_t sync_mode, upc_team_t team) {
  return guard<weft::upc_all_permute_xi>(dst, src, perm, nbytes, sync_mode, team);
}

} // extern "C"

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
WEFT_EXPORT cray_upc_return_t cray_upc_team_scan(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nelems,
                                                 cray_upc_dtype_t dtype, upc_op_t op, cray_upc_team_t team,
                                                 upc_handle_t* handle) {
  return guard<weft::cray_upc_team_scan, CRAY_UPC_ERROR>(dst, src, nelems, dtype, op, team, handle);
}
WEFT_EXPORT cray_upc_return_t cray_upc_team_exscan(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nelems,
                                                   cray_upc_dtype_t dtype, upc_op_t op, cray_upc_team_t team,
                                                   upc_handle_t* handle) {
  return guard<weft::cray_upc_team_exscan, CRAY_UPC_ERROR>(dst, src, nelems, dtype, op, team, handle);
}
WEFT_EXPORT cray_upc_return_t cray_upc_team_reduce_scatter(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                           size_t nelems, cray_upc_dtype_t dtype, upc_op_t op,
                                                           cray_upc_team_t team, upc_handle_t* handle) {
  return guard<weft::cray_upc_team_reduce_scatter, CRAY_UPC_ERROR>(dst, src, nelems, dtype, op, team, handle);
}
WEFT_EXPORT cray_upc_return_t cray_upc_team_reduce_scatterv(upc_shared_ptr_t dst, upc_shared_ptr_t src,
                                                            const size_t* counts, cray_upc_dtype_t dtype,
                                                            upc_op_t op, cray_upc_team_t team,
                                                            upc_handle_t* handle) {
  return guard<weft::cray_upc_team_reduce_scatterv, CRAY_UPC_ERROR>(dst, src, counts, dtype, op, team,
                                                                    handle);
}
WEFT_EXPORT cray_upc_return_t cray_upc_team_alltoallv(upc_shared_ptr_t dst, const size_t* dst_nbytes,
                                                      const ptrdiff_t* dst_places, upc_shared_ptr_t src,
                                                      const size_t* src_nbytes, const ptrdiff_t* src_places,
                                                      cray_upc_team_t team, upc_handle_t* handle) {
  return guard<weft::cray_upc_team_alltoallv, CRAY_UPC_ERROR>(dst, dst_nbytes, dst_places, src, src_nbytes,
                                                              src_places, team, handle);
}
WEFT_EXPORT cray_upc_return_t cray_upc_team_allgatherv(upc_shared_ptr_t dst, const size_t* dst_nbytes,
                                                       const ptrdiff_t* dst_places, upc_shared_ptr_t src,
                                                       size_t src_nbytes, cray_upc_team_t team,
                                                       upc_handle_t* handle) {
  return guard<weft::cray_upc_team_allgatherv, CRAY_UPC_ERROR>(dst, dst_nbytes, dst_places, src, src_nbytes,
                                                               team, handle);
}
WEFT_EXPORT cray_upc_return_t cray_upc_team_gatherv(upc_shared_ptr_t dst, const size_t* dst_nbytes,
                                                    const ptrdiff_t* dst_places, upc_shared_ptr_t src,
                                                    size_t src_nbytes, int root, cray_upc_team_t team,
                                                    upc_handle_t* handle) {
  return guard<weft::cray_upc_team_gatherv, CRAY_UPC_ERROR>(dst, dst_nbytes, dst_places, src, src_nbytes,
                                                            root, team, handle);
}
WEFT_EXPORT cray_upc_return_t cray_upc_team_scatterv(upc_shared_ptr_t dst, size_t dst_nbytes,
                                                     upc_shared_ptr_t src, const size_t* src_nbytes,
                                                     const ptrdiff_t* src_places, int root,
                                                     cray_upc_team_t team, upc_handle_t* handle) {
  return guard<weft::cray_upc_team_scatterv, CRAY_UPC_ERROR>(dst, dst_nbytes, src, src_nbytes, src_places,
                                                             root, team, handle);
}
WEFT_EXPORT cray_upc_return_t cray_upc_op_create(cray_upc_user_fun_t func, int commute, upc_op_t* op) {
  return guard<weft::cray_upc_op_create, CRAY_UPC_ERROR>(func, commute, op);
}
WEFT_EXPORT cray_upc_return_t weft_op_create(weft_user_function_t func, void* context, size_t elem_size,
                                             int commute, upc_op_t* op) {
  return guard<weft::weft_op_create, CRAY_UPC_ERROR>(func, context, elem_size, commute, op);
}
WEFT_EXPORT upc_shared_ptr_t weft_pointer_to(const void* memory) {
  return guard<weft::weft_pointer_to>(memory);
}
WEFT_EXPORT upc_shared_ptr_t weft_lend(const void* memory) {
  return guard<weft::weft_lend>(memory);
}
WEFT_EXPORT void cray_upc_op_free(upc_op_t op) {
  return guard<weft::cray_upc_op_free>(op);
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
