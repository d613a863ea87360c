// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/dice.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

// What a byte of an arena is, as a function of its place and of a key: every rank knows the memory of all.
namespace calls {

static_assert(std::endian::native == std::endian::little);

inline std::uint64_t word_at(std::uint64_t key, std::uint64_t index) {
  return mix(key ^ (index * 0x2545f4914f6cdd1d));
}

// Writes to `to` what belongs at `offset` and behind it.
inline void paint(std::byte* to, std::uint64_t key, std::uint64_t offset, std::uint64_t bytes) {
  while (bytes != 0) {
    const std::uint64_t word = word_at(key, offset / 8), skip = offset % 8;
    const std::uint64_t now = std::min<std::uint64_t>(8 - skip, bytes);
    if (now == 8)
      std::memcpy(to, &word, 8); // of a length that the compiler knows
    else
      std::memcpy(to, reinterpret_cast<const std::uint8_t*>(&word) + skip, now);
    to += now;
    offset += now;
    bytes -= now;
  }
}

// The coats of paint of one case: nothing yet; the source of a call; the same after the call is done with it.
class paints {
public:
  paints(std::uint64_t seed, std::uint64_t index) : base_(mix({seed, index, 0xb17e5})) {}
  std::uint64_t guard(std::uint32_t thread) const { return mix({base_, 0, thread}); }
  std::uint64_t source(std::size_t call, std::uint32_t thread) const { return mix({base_, 1, call, thread}); }
  std::uint64_t spoilt(std::size_t call, std::uint32_t thread) const { return mix({base_, 2, call, thread}); }

private:
  std::uint64_t base_;
};

} // namespace calls
