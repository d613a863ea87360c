// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::api {

// Where a search among an array's handles begins, so that none of them starves: behind the one that the last
// call with this array completed. One for each application thread.
//
// An array is known by its address, and a few arrays are remembered, each in the one place that its address
// names. The search in an array that is not remembered begins anywhere, at a pseudo-random place: arrays that
// keep displacing each other do not starve a handle either.
class rotation {
public:
  // An index below count, which is not 0.
  std::size_t begin(const void* array, std::size_t count) noexcept {
    const place& p = at(array);
    if (p.array == array) return p.next % count;
    return static_cast<std::size_t>((next_random() >> 32) * count >> 32);
  }
  void completed(const void* array, std::size_t index) noexcept { at(array) = {array, index + 1}; }

private:
  struct place {
    const void* array = nullptr;
    std::size_t next = 0;
  };
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15; // 2^64 / the golden ratio
  static constexpr unsigned place_bits = 4;

  place& at(const void* array) noexcept {
    return places_[reinterpret_cast<std::uintptr_t>(array) * golden >> (64 - place_bits)];
  }

  // SplitMix64.
  std::uint64_t next_random() noexcept {
    std::uint64_t z = random_ += golden;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::array<place, std::size_t{1} << place_bits> places_{};
  std::uint64_t random_ = 0;
};

} // namespace weft::api
