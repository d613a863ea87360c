// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <cstdlib>

namespace weft::tests {

// The long suite plays all. The sanitizers make the simulated machine ten times slower, and what they find they find
// in few programs.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr std::uint64_t seeds_share = 24;
#elif defined(__SANITIZE_THREAD__)
inline constexpr std::uint64_t seeds_share = 9;
#else
inline constexpr std::uint64_t seeds_share = 5;
#endif

// WEFT_SEED=n plays one seed alone, WEFT_SEEDS=n as many from 1.
struct seed_range {
  explicit seed_range(std::uint64_t usual) : last(usual / seeds_share) {
    if (const char* const many = std::getenv("WEFT_SEEDS")) last = std::strtoull(many, nullptr, 10);
    if (const char* const one = std::getenv("WEFT_SEED")) first = last = std::strtoull(one, nullptr, 10);
  }
  std::uint64_t first = 1, last;
};

} // namespace weft::tests
