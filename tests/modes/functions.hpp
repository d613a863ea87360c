// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/call.hpp"

#include <span>

namespace modes {

enum class in_mode { no, my, all };
enum class out_mode {
  no,
  my,
  all,
  local // Cray's: my destination is full, my source may still be read
};

enum class pattern { from_root, to_root, all_pairs, permuted };

enum class barrier { none, of_all, split, of_team, of_team_nb };

// One of those that move data, or a barrier.
struct function {
  const char* name;
  calls::kind what = calls::kind::exchange;
  bool in_place = false;
  barrier wait = barrier::none;

  bool has_data() const { return wait == barrier::none; }
  bool cray() const { return has_data() && calls::is_cray(what); }
  bool extended() const { return has_data() && calls::is_x(what); } // with arrays in shared memory
  bool plain() const { return has_data() && !cray() && !extended(); }
  bool has_modes() const { return plain() || extended(); } // else IN_MY and this one
  out_mode fixed_out() const;
  pattern shape() const;
  bool has_root() const { return shape() == pattern::from_root || shape() == pattern::to_root; }
  bool scalar_size() const { return !extended() || what == calls::kind::broadcast_x; } // no array has it
};

// All functions, in the order of the tests.
std::span<const function> functions();

// Which block goes where.
struct flow {
  const function& what;
  int threads, root, turn;

  // Where the block of `rank` goes to: in turn a rotation, a reversal, and an exchange of neighbours.
  int permuted(int rank) const;
  // True if a block goes from i to j.
  bool sends(int i, int j) const;
};

} // namespace modes
