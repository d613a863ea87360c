// SPDX-License-Identifier: BSD-3-Clause
// The random numbers of the NAS benchmarks: x' = 5^13 x mod 2^46, from the same seed in all of them.
#pragma once

#include <cstdint>

namespace example {

class nas_random {
public:
  static constexpr std::uint64_t seed = 314159265;

  // Behind so many numbers: every thread begins where its part of the sequence does.
  explicit nas_random(std::uint64_t skip = 0) {
    std::uint64_t step = factor;
    for (; skip != 0; skip >>= 1, step = step * step & mask)
      if ((skip & 1) != 0) state_ = state_ * step & mask;
  }

  // Between 0 and 1.
  double next() {
    state_ = state_ * factor & mask;
    return static_cast<double>(state_) * 0x1p-46;
  }

private:
  static constexpr std::uint64_t factor = 1220703125, mask = (std::uint64_t{1} << 46) - 1;
  std::uint64_t state_ = seed;
};

} // namespace example
