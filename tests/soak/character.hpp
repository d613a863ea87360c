#pragma once
#include "tests/soak/dice.hpp"

#include <algorithm>

namespace soak {

// How one job lives. Jobs differ much from each other, so that each does its own few things often.
struct character {
  std::uint64_t seed;
  std::uint32_t threads;
  std::uint32_t depth;        // operations under way at most
  std::uint32_t strict;       // berths of operations that keep to MY or ALL on both sides
  std::uint32_t loose;        // berths of the others: each for one operation of a round
  std::uint32_t largest;      // bytes of a block
  std::uint32_t splits;       // how often the threads are split into teams
  std::uint32_t helpers;      // threads of each process that complete operations for the first one
  std::uint32_t era;          // rounds that teams live
  std::uint32_t late_percent; // how often a late thread is late
  std::uint32_t late_thread;  // the only one that is; `threads`: all
  std::uint32_t late_us;
  std::uint64_t styles; // of completion: a bit each
  std::uint64_t kinds;  // of operation: a bit each

  character(std::uint64_t from, std::uint32_t of) : seed(from), threads(of) {
    dice d{seed, 1};
    constexpr std::uint32_t depths[] = {1, 2, 4, 12, 40, 150};
    constexpr std::uint32_t sizes[] = {8, 64, 300, 2100, 20000, 150000};
    depth = d.of(depths);
    largest = d.of(sizes);
    if (largest > 2100) depth = std::min(depth, 12u);
    strict = depth + static_cast<std::uint32_t>(d.below(4));
    loose = largest > 2100 ? 4 : 12;
    splits = d.chance(50) ? 0 : 1 + static_cast<std::uint32_t>(d.below(3));
    helpers = d.chance(60) ? 0 : 1 + static_cast<std::uint32_t>(d.below(3));
    era = 1 + static_cast<std::uint32_t>(d.below(6));
    constexpr std::uint32_t percents[] = {0, 5, 30, 100};
    late_percent = d.of(percents);
    late_thread = static_cast<std::uint32_t>(d.chance(60) ? d.below(of) : of);
    constexpr std::uint32_t delays[] = {5, 100, 700, 2500};
    late_us = d.of(delays);
    styles = d.chance(40) ? ~std::uint64_t{0} : mix(seed, 2) & mix(seed, 3);
    kinds = d.chance(50) ? ~std::uint64_t{0} : d.chance(50) ? mix(seed, 4) & mix(seed, 5) : mix(seed, 6);
  }
};

} // namespace soak
