#pragma once
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

} // namespace weft
