// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "testing/simulated/simulation.hpp"

#include <cstdint>

namespace weft::tests {

// A completion that can be waited for.
struct waited : transport::completion {
  waited() {
    this->done = [](completion* c, int) { static_cast<waited*>(c)->finished = true; };
  }
  bool finished = false;
};

template <class Transport, class Fact> void wait_for(Transport& t, Fact&& fact) {
  while (!fact())
    if (t.poll() == 0) t.relax();
}

template <class Transport> void finish(Transport& t, transport::started came, const waited& w) {
  if (!came.done()) wait_for(t, [&] { return w.finished; });
}

inline transport::simulation_options rough(std::uint64_t seed, std::uint32_t ranks,
                                           std::vector<std::uint32_t> nodes = {}) {
  transport::simulation_options o;
  o.seed = seed;
  o.ranks = ranks;
  o.host_of_rank = std::move(nodes);
  o.segment_bytes = 1 << 16;
  o.chaos = transport::simulated_chaos::rough();
  return o;
}

inline std::atomic<std::uint64_t>& word_at(std::byte* segment, std::uint64_t offset) {
  return *reinterpret_cast<std::atomic<std::uint64_t>*>(segment + offset);
}

inline constexpr std::uint64_t seeds = 200;

// In how many of the seeds something happened.
template <class Run> std::uint64_t count_seeds(Run&& happens) {
  std::uint64_t n = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed)
    n += happens(seed);
  return n;
}

} // namespace weft::tests
