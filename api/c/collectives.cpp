// The C forms of the collectives, like those of c_entries.cpp.
#define WEFT_NO_GLOBAL_NAMES
#include "api/checks/error_handler.hpp"
#include "api/include/upc_collective.h"

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
