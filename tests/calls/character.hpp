// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/player.hpp"

#include <algorithm>

namespace calls {

// How a busy job lives, for everything follows from its seed. Jobs differ much from each other, so that each
// does its own few things often.
struct character {
  unsigned helpers = 0; // threads of each process that complete operations for the first one
  manners how;

  character(std::uint64_t seed, settings& limits) {
    dice d{seed, 1, limits.threads};
    constexpr std::size_t depths[] = {1, 2, 4, 12, 40, 150};
    constexpr std::uint64_t sizes[] = {8, 64, 300, 2100, 20000, 150000};
    how.depth = d.pick(depths);
    limits.largest = d.pick(sizes);
    if (limits.largest > 2100) how.depth = std::min<std::size_t>(how.depth, 12);
    how.eager = d.chance(30);
    limits.fewest_calls = how.depth * 2;
    limits.most_calls = how.depth * 2 + 24;
    limits.room = std::uint64_t{6} << 20;
    helpers = d.chance(60) ? 0 : 1 + static_cast<unsigned>(d.below(3));
    limits.era = 1 + d.below(6);
    constexpr unsigned percents[] = {0, 5, 30, 100}, delays[] = {5, 100, 700, 2500};
    how.late_percent = d.pick(percents);
    how.late_us = d.pick(delays);
    if (d.chance(60)) how.late_thread = static_cast<std::uint32_t>(d.below(limits.threads));
    if (d.chance(50)) return;
    d.shuffle(limits.enabled);
    limits.enabled.resize(d.between(1, limits.enabled.size()));
  }
};

} // namespace calls
