// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/algorithm.hpp"

namespace weft::tests {

// With algorithms drawn by the seed, so that programs use all of them; the cheapest in some.
inline collectives::tuning tuning_of_seed(std::uint64_t seed) {
  collectives::tuning t;
  const auto list = collectives::algorithms();
  std::uint64_t draw = seed;
  for (std::size_t begin = 0, end = 0; begin < list.size(); begin = end) {
    while (end < list.size() && list[end].op == list[begin].op)
      ++end;
    const std::uint64_t choices = end - begin + 1;
    const std::uint64_t drawn = draw % choices;
    draw = draw / choices + seed % 7;
    if (drawn != 0)
      t.forced[static_cast<std::size_t>(list[begin].op)] = static_cast<std::uint8_t>(begin + drawn);
  }
  if (seed % 2 == 0) { // as between hosts that sockets connect
    t.far_payload = 60 * 1024;
    t.far_push = true;
  }
  t.bundles = true;
  if (seed % 3 == 0) t.window = 1 + seed % 5;
  return t;
}

} // namespace weft::tests
