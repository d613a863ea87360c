// SPDX-License-Identifier: BSD-3-Clause
// Sizes of the blocks of an exchange by a power law, the same in each program and run.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace weft {

// Of the blocks between all pairs of ranks, those for the ranks themselves included, the k-th largest has
// 1/k^skew of the bytes of the largest, rounded down. Which pair has which is drawn from a fixed seed.
class skewed_sizes {
public:
  skewed_sizes(std::uint32_t ranks, std::uint64_t largest, double skew) : ranks_(ranks) {
    const std::size_t pairs = std::size_t{ranks} * ranks;
    of_.reserve(pairs);
    for (std::size_t k = 1; k <= pairs; ++k)
      of_.push_back(
          static_cast<std::uint64_t>(static_cast<double>(largest) / std::pow(static_cast<double>(k), skew)));
    std::uint64_t state = seed;
    for (std::size_t left = pairs; left > 1; --left)
      std::swap(of_[left - 1], of_[drawn(state) % left]);
  }

  std::uint32_t ranks() const { return ranks_; }
  std::uint64_t of(std::uint32_t from, std::uint32_t to) const {
    return of_[std::size_t{from} * ranks_ + to];
  }

private:
  static constexpr std::uint64_t seed = 20250711;

  static std::uint64_t drawn(std::uint64_t& state) { // splitmix64
    std::uint64_t z = state += 0x9e3779b97f4a7c15ULL;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
    return z ^ z >> 31;
  }

  std::uint32_t ranks_;
  std::vector<std::uint64_t> of_;
};

} // namespace weft
