// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

namespace weft::transport::sim {

// The only source of chance in a simulation: splitmix64, so a seed is all that a replay needs, on any
// machine.
class seeded_random {
public:
  explicit seeded_random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  // 0 .. limit-1; 0 for a limit of 0.
  std::uint64_t below(std::uint64_t limit) { return limit == 0 ? 0 : next() % limit; }
  std::int64_t up_to(std::int64_t most) {
    return most <= 0 ? 0 : static_cast<std::int64_t>(below(static_cast<std::uint64_t>(most) + 1));
  }
  // Draws nothing where there is nothing to decide.
  bool coin(double probability) {
    if (probability <= 0) return false;
    if (probability >= 1) return true;
    return static_cast<double>(next() >> 11) * 0x1p-53 < probability;
  }

private:
  std::uint64_t state_;
};

} // namespace weft::transport::sim
