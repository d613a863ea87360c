// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/dice.hpp"
#include "tests/calls/layout.hpp"
#include "tests/calls/scenario.hpp"

#include <algorithm>

namespace calls {

// What all arguments are drawn by: the dice, the limits, and the memory that is left.
struct drawing {
  call& c;
  const members& m;
  const settings& limits;
  const std::uint32_t T;
  const std::uint64_t room;
  symmetric_space& space;
  dice& d;
  const bool small;

  std::uint32_t phase() { return static_cast<std::uint32_t>(d.chance(50) ? 0 : d.below(9)); }
  std::uint32_t root() { return limits.fixed ? limits.fixed->root : d.pick(m); }
  // That of the caller, or one that fits.
  std::uint64_t block_size() { return limits.fixed ? limits.fixed->bytes : fitting_size(); }
  bool in_place() { return limits.fixed ? limits.fixed->in_place : d.chance(limits.own_place_percent); }
  bool member(std::uint32_t thread) const { return std::find(m.begin(), m.end(), thread) != m.end(); }
  std::size_t rank_of(std::uint32_t thread) const {
    return static_cast<std::size_t>(std::find(m.begin(), m.end(), thread) - m.begin());
  }
  std::uint64_t fitting_size();
  std::vector<std::uint64_t> permutation(std::size_t n);
  calls::in_place any_reading();
};

// Draws the arrays of the _x forms, and the places of their blocks.
void draw_x(drawing& from);

} // namespace calls
