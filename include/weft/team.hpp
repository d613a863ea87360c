// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "../upc_collective.h"
#include "../upc_collective_cray.h"
#include "error.hpp"
#include "handle.hpp"
#include "synchronization_calls.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft {

namespace detail {
// What every call with spans needs of this process. `segment` is the address that places count from.
struct own_process {
  std::uintptr_t segment;
  std::size_t begin, bytes; // of what all ranks have at the same place
  std::uint32_t rank;
  int ranks; // of the job; 0: the library has not begun, or has ended
};
// Always the same object.
[[gnu::const]] WEFT_EXPORT const own_process& own() noexcept;
// An error of upc_threads where the library has not begun.
[[gnu::cold]] inline void require_begun() {
  static_cast<void>(upc_threads());
}
// cray_upc_team_free; nothing behind the end of the library. An error ends the job with its line.
WEFT_EXPORT void free_team(upc_team_t team) noexcept;
} // namespace detail

// Some ranks of the job, numbered anew; the default is all of them. What split and subset make is freed at
// the end of its scope; `node` and the default are always there.
//
//   const weft::team rows = weft::team().split(weft::team().rank() / columns);
//   weft::exchange(dst, src, rows).wait();
//
// Operations that are under way when a team is freed are completed as usual, by their pending. Every call
// with a team that has been moved from or freed is an error of that call, which says so. Making one is
// collective over the parent, freeing it over the members.
class team {
public:
  team() : handle_(UPC_TEAM_ALL), size_(detail::own().ranks) {
    if (size_ == 0) [[unlikely]]
      detail::require_begun();
  }
  // Becomes the owner of what cray_upc_team_split, weft_team_from_threads or weft_team_from_mpi made. 0: the
  // calling rank is no member.
  explicit team(upc_team_t made) : handle_(made), owner_(made != 0) {
    if (owner_) learn();
  }
  // The ranks of this host.
  static team node() {
    team here;
    here.handle_ = CRAY_UPC_TEAM_NODE;
    here.learn();
    return here;
  }
  team(team&& other) noexcept
      : handle_(std::exchange(other.handle_, 0)), size_(std::exchange(other.size_, 0)),
        first_(std::exchange(other.first_, 0)), owner_(std::exchange(other.owner_, false)) {}
  team& operator=(team&& other) noexcept {
    team before(std::move(*this));
    handle_ = std::exchange(other.handle_, 0);
    size_ = std::exchange(other.size_, 0);
    first_ = std::exchange(other.first_, 0);
    owner_ = std::exchange(other.owner_, false);
    return *this;
  }
  ~team() {
    if (owner_) detail::free_team(handle_);
  }

  // The ranks that pass the same color become a team, in the order of key, and of their ranks here where keys
  // are equal. Collective over this team. Errors: as cray_upc_team_split; no memory for another team.
  team split(int color, int key = 0) const {
    upc_team_t made = 0;
    if (cray_upc_team_split(handle_, color, key, &made) != CRAY_UPC_SUCCESS)
      fail_no_room("weft::team::split");
    return team(made);
  }
  // These ranks of this team, in the order of the list, which is the same on all. The others get a team that
  // they are no members of. Collective over this team. Errors: as weft_team_from_threads; no memory for
  // another team.
  team subset(std::span<const int> ranks) const {
    std::vector<int> threads;
    for (const int rank : ranks)
      threads.push_back(thread(rank));
    upc_team_t made = 0;
    if (weft_team_from_threads(handle_, static_cast<int>(threads.size()), threads.data(), &made) != 0)
      fail_no_room("weft::team::subset");
    return team(made);
  }

  // Whether the calling rank is one of it.
  explicit operator bool() const noexcept { return handle_ != 0; }
  // The calling rank's number in it, and how many there are. Errors: no member; freed.
  int rank() const { return cray_upc_team_rank(handle_); }
  int size() const noexcept { return size_; }
  // The rank in the job of a rank of the team, and back; -1: that one is no member. Errors: rank is none of
  // the team; no such rank in the job.
  int thread(int rank) const { return weft_team_thread(handle_, rank); }
  int rank_of(int thread) const { return weft_team_rank_of(handle_, thread); }
  // The rank in the job of rank 0.
  int first() const noexcept { return first_; }

  // weft::barrier and weft::arrive of this team.
  void barrier(line_of_call where = line_of_call::here()) const {
    const detail::at_site here(where);
    handle_ == UPC_TEAM_ALL ? weft_barrier() : cray_upc_team_barrier(handle_);
  }
  pending arrive(line_of_call where = line_of_call::here()) const {
    const detail::at_site here(where);
    return pending(cray_upc_team_barrier_nb(handle_));
  }

  upc_team_t handle() const noexcept { return handle_; }

private:
  void learn() {
    size_ = cray_upc_team_size(handle_);
    first_ = weft_team_thread(handle_, 0);
  }
  [[noreturn, gnu::cold]] static void fail_no_room(const char* call) {
    throw error(call, "", "", "no memory for another team: let one end that is no longer needed");
  }

  upc_team_t handle_;
  int size_ = 0, first_ = 0;
  bool owner_ = false;
};

// Returns when all ranks of the team have called it, all of the job by default: what each of them wrote
// before is seen by all behind it.
//
//   weft::barrier();
//   weft::barrier(rows);
//
// Errors: no member; a team that has ended, or was moved from; between upc_notify and upc_wait. Source: UPC
// 1.3, 6.6.1, upc_barrier; of other teams cray_upc_team_barrier.
inline void barrier(const team& of = {}, line_of_call where = line_of_call::here()) {
  of.barrier(where);
}
// The same without waiting: the rank has come, and goes on; the pending is complete when all have.
//
//   weft::pending all_have_come = weft::arrive();
//   compute();
//   all_have_come.wait();
//
// Source: cray_upc_team_barrier_nb.
inline pending arrive(const team& of = {}, line_of_call where = line_of_call::here()) {
  return of.arrive(where);
}

} // namespace weft
