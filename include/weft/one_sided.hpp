// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../upc_collective_cray.h"
#include "../upc_one_sided.h"

#include <span>

// The one-sided collectives with flags, or among the threads of a team or of a list, under their own names.
// What they do, and their errors, upc_one_sided.h says.
namespace weft {

inline upc_coll_handle_t upc_broadcast(upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                                       upc_flag_t flags) {
  return upc_broadcast_team(dst, src, nbytes, flags, UPC_TEAM_ALL);
}
inline upc_coll_handle_t upc_broadcast(upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                                       upc_team_t team, upc_flag_t flags = 0) {
  return upc_broadcast_team(dst, src, nbytes, flags, team);
}
inline upc_coll_handle_t upc_broadcast(upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                                       std::span<const int> threads, upc_flag_t flags = 0) {
  return upc_broadcast_threads(dst, src, nbytes, flags, threads.data(), threads.size());
}

// In place (V0.2, footnote 1; with a subset: 4).
inline void upc_broadcast(upc_shared_ptr_t both, std::size_t nbytes) {
  upc_broadcast_in_place(both, nbytes);
}
inline upc_coll_handle_t upc_broadcast(upc_shared_ptr_t both, std::size_t nbytes, upc_flag_t flags) {
  return upc_broadcast_team(both, both, nbytes, flags, UPC_TEAM_ALL);
}
inline upc_coll_handle_t upc_broadcast(upc_shared_ptr_t both, std::size_t nbytes, upc_team_t team,
                                       upc_flag_t flags = 0) {
  return upc_broadcast_team(both, both, nbytes, flags, team);
}
inline upc_coll_handle_t upc_broadcast(upc_shared_ptr_t both, std::size_t nbytes,
                                       std::span<const int> threads, upc_flag_t flags = 0) {
  return upc_broadcast_threads(both, both, nbytes, flags, threads.data(), threads.size());
}

inline upc_coll_handle_t upc_scatter(upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                                     upc_flag_t flags) {
  return upc_scatter_team(dst, src, nbytes, flags, UPC_TEAM_ALL);
}
inline upc_coll_handle_t upc_scatter(upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                                     upc_team_t team, upc_flag_t flags = 0) {
  return upc_scatter_team(dst, src, nbytes, flags, team);
}
inline upc_coll_handle_t upc_scatter(upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                                     std::span<const int> threads, upc_flag_t flags = 0) {
  return upc_scatter_threads(dst, src, nbytes, flags, threads.data(), threads.size());
}

inline upc_coll_handle_t upc_gather(upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                                    upc_flag_t flags) {
  return upc_gather_team(dst, src, nbytes, flags, UPC_TEAM_ALL);
}
inline upc_coll_handle_t upc_gather(upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                                    upc_team_t team, upc_flag_t flags = 0) {
  return upc_gather_team(dst, src, nbytes, flags, team);
}
inline upc_coll_handle_t upc_gather(upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                                    std::span<const int> threads, upc_flag_t flags = 0) {
  return upc_gather_threads(dst, src, nbytes, flags, threads.data(), threads.size());
}

inline upc_coll_handle_t upc_exchange(upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                                      upc_flag_t flags) {
  return upc_exchange_team(dst, src, nbytes, flags, UPC_TEAM_ALL);
}
inline upc_coll_handle_t upc_exchange(upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                                      upc_team_t team, upc_flag_t flags = 0) {
  return upc_exchange_team(dst, src, nbytes, flags, team);
}
inline upc_coll_handle_t upc_exchange(upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                                      std::span<const int> threads, upc_flag_t flags = 0) {
  return upc_exchange_threads(dst, src, nbytes, flags, threads.data(), threads.size());
}

inline upc_coll_handle_t upc_gather_all(upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                                        upc_flag_t flags) {
  return upc_gather_all_team(dst, src, nbytes, flags, UPC_TEAM_ALL);
}
inline upc_coll_handle_t upc_gather_all(upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                                        upc_team_t team, upc_flag_t flags = 0) {
  return upc_gather_all_team(dst, src, nbytes, flags, team);
}
inline upc_coll_handle_t upc_gather_all(upc_shared_ptr_t dst, upc_shared_ptr_t src, std::size_t nbytes,
                                        std::span<const int> threads, upc_flag_t flags = 0) {
  return upc_gather_all_threads(dst, src, nbytes, flags, threads.data(), threads.size());
}

inline upc_coll_handle_t upc_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type, upc_op_t op,
                                    std::size_t nelems, std::size_t blk_size, upc_flag_t flags = 0) {
  return upc_reduce_team(dst, src, type, op, nelems, blk_size, flags, UPC_TEAM_ALL);
}
inline upc_coll_handle_t upc_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type, upc_op_t op,
                                    std::size_t nelems, std::size_t blk_size, upc_team_t team,
                                    upc_flag_t flags = 0) {
  return upc_reduce_team(dst, src, type, op, nelems, blk_size, flags, team);
}
inline upc_coll_handle_t upc_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type, upc_op_t op,
                                    std::size_t nelems, std::size_t blk_size, std::span<const int> threads,
                                    upc_flag_t flags = 0) {
  return upc_reduce_threads(dst, src, type, op, nelems, blk_size, flags, threads.data(), threads.size());
}

inline upc_coll_handle_t upc_prefix_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type,
                                           upc_op_t op, std::size_t nelems, std::size_t blk_size,
                                           upc_flag_t flags = 0) {
  return upc_prefix_reduce_team(dst, src, type, op, nelems, blk_size, flags, UPC_TEAM_ALL);
}
inline upc_coll_handle_t upc_prefix_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type,
                                           upc_op_t op, std::size_t nelems, std::size_t blk_size,
                                           upc_team_t team, upc_flag_t flags = 0) {
  return upc_prefix_reduce_team(dst, src, type, op, nelems, blk_size, flags, team);
}
inline upc_coll_handle_t upc_prefix_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type,
                                           upc_op_t op, std::size_t nelems, std::size_t blk_size,
                                           std::span<const int> threads, upc_flag_t flags = 0) {
  return upc_prefix_reduce_threads(dst, src, type, op, nelems, blk_size, flags, threads.data(),
                                   threads.size());
}

inline upc_coll_handle_t upc_xprefix_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type,
                                            upc_op_t op, std::size_t nelems, std::size_t blk_size,
                                            upc_flag_t flags = 0) {
  return upc_xprefix_reduce_team(dst, src, type, op, nelems, blk_size, flags, UPC_TEAM_ALL);
}
inline upc_coll_handle_t upc_xprefix_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type,
                                            upc_op_t op, std::size_t nelems, std::size_t blk_size,
                                            upc_team_t team, upc_flag_t flags = 0) {
  return upc_xprefix_reduce_team(dst, src, type, op, nelems, blk_size, flags, team);
}
inline upc_coll_handle_t upc_xprefix_reduce(upc_shared_ptr_t dst, upc_shared_ptr_t src, upc_type_t type,
                                            upc_op_t op, std::size_t nelems, std::size_t blk_size,
                                            std::span<const int> threads, upc_flag_t flags = 0) {
  return upc_xprefix_reduce_threads(dst, src, type, op, nelems, blk_size, flags, threads.data(),
                                    threads.size());
}

// One element of each of the threads that take part, in place: the one that is passed becomes the result
// (V0.2, 4).
inline upc_coll_handle_t upc_reduce(upc_shared_ptr_t both, upc_type_t type, upc_op_t op, upc_team_t team) {
  return upc_reduce_team(both, both, type, op, static_cast<std::size_t>(cray_upc_team_size(team)), 1, 0,
                         team);
}
inline upc_coll_handle_t upc_reduce(upc_shared_ptr_t both, upc_type_t type, upc_op_t op,
                                    std::span<const int> threads) {
  return upc_reduce_threads(both, both, type, op, threads.size(), 1, 0, threads.data(), threads.size());
}

} // namespace weft

#if WEFT_GLOBAL_NAMES
using weft::upc_broadcast;
using weft::upc_exchange;
using weft::upc_gather;
using weft::upc_gather_all;
using weft::upc_prefix_reduce;
using weft::upc_reduce;
using weft::upc_scatter;
using weft::upc_xprefix_reduce;
#endif
