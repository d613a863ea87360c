// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/independence/schedule.hpp"

#include <weft/weft.hpp>

// The memory of schedules and the calls of their steps, on the calling rank.
namespace schedules {

using word = unsigned long;

inline std::size_t threads() {
  return static_cast<std::size_t>(THREADS);
}
inline std::size_t me() {
  return static_cast<std::size_t>(MYTHREAD);
}

// Where everything lies, on each thread: for each operation its places, and what ranks use alone.
class ground {
public:
  ground(std::uint64_t operations, std::uint64_t largest)
      : each_((largest + 64 * threads() + 63) / 64 * 64),
        all_(upc_all_alloc(threads(), 2 * operations * each_)),
        permutations_(upc_all_alloc(threads(), 64 * operations)),
        alone_(upc_all_alloc(threads(), (2 * threads() + 2) * alone_each())) {}
  ~ground() {
    upc_all_free(alone_);
    upc_all_free(permutations_);
    upc_all_free(all_);
  }
  ground(const ground&) = delete;
  ground& operator=(const ground&) = delete;

  upc_shared_ptr_t src(std::size_t op, std::size_t thread) const { return at(all_, 2 * op * each_, thread); }
  upc_shared_ptr_t dst(std::size_t op, std::size_t thread) const {
    return at(all_, (2 * op + 1) * each_, thread);
  }
  upc_shared_ptr_t permutation(std::size_t op, std::size_t thread) const {
    return at(permutations_, 64 * op, thread);
  }
  word* my_src(std::size_t op) const { return static_cast<word*>(upc_cast(src(op, me()))); }
  word* my_dst(std::size_t op) const { return static_cast<word*>(upc_cast(dst(op, me()))); }
  std::uint64_t each() const { return each_; }

  static constexpr std::uint64_t alone_block = 12'000;
  // For one caller's results, on a thread; and what is read.
  upc_shared_ptr_t of_caller(std::size_t caller, std::size_t thread) const {
    return at(alone_, 2 * caller * alone_each(), thread);
  }
  upc_shared_ptr_t read_alone(std::size_t thread) const {
    return at(alone_, 2 * threads() * alone_each(), thread);
  }

private:
  static std::uint64_t alone_each() { return alone_block * threads(); }
  static upc_shared_ptr_t at(upc_shared_ptr_t p, std::uint64_t offset, std::size_t thread) {
    return {p.addr + offset, static_cast<std::uint32_t>(thread), 0};
  }
  std::uint64_t each_;
  upc_shared_ptr_t all_, permutations_, alone_;
};

class stage {
public:
  stage(std::uint64_t operations, std::uint64_t largest);
  ~stage();
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  // All sources of a schedule, which lives as long as its calls, are as they should be behind the next
  // barrier.
  void set(const schedule& s, std::vector<upc_team_t> teams);
  // What it returns is for upc_wait; from team_reduce on for upc_sync, and of a split barrier nothing.
  unsigned long long post(std::size_t op) const;
  // Calls that no other rank has a part in, whatever that does.
  void call_alone(std::size_t which) const;
  // Has this rank what it should have of an operation?
  bool is_right(std::size_t op) const;
  upc_shared_ptr_t read_alone(std::size_t thread) const { return ground_.read_alone(thread); }

private:
  const std::vector<std::size_t>& members(const operation& o) const { return s_->teams[o.team]; }
  std::size_t rank_in(const operation& o) const;
  unsigned long long post_move(std::size_t op, const operation& o, upc_flag_t mode) const;
  unsigned long long post_array(std::size_t op, const operation& o, upc_flag_t mode) const;
  unsigned long long post_vector(std::size_t op, const operation& o) const;
  unsigned long long post_other(std::size_t op, const operation& o) const;

  ground ground_;
  upc_atomicdomain_t domain_;
  std::vector<upc_lock_t> locks_;
  const schedule* s_ = nullptr;
  std::vector<upc_team_t> teams_;
};

} // namespace schedules
