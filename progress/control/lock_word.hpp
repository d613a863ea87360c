// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/memory/cells.hpp"

#include <cstdint>

namespace weft::control {

// The word of a lock, {serial:24, waited:1 in 8, holder:32}, in the memory of its home. The serial is that of
// the lock that lives in this place now; one that was freed is another one.
//
//   free      no rank holds it, no rank waits
//   held      by the rank; no rank waits
//   waited    held, and the home knows which rank waits
//   passing   returned, but not free: the home is to give it to one that waits
//   no lock   lives here
namespace lock_word {

inline constexpr std::uint32_t no_rank = ~std::uint32_t{0}, no_lock = no_rank - 1;
inline constexpr std::uint32_t serial_bits = 24, most_serial = (1u << serial_bits) - 1;

struct state {
  std::uint32_t serial = 0;
  bool waited = false;
  std::uint32_t holder = no_rank;

  constexpr bool is(std::uint32_t of_serial) const { return serial == of_serial && holder != no_lock; }
  constexpr bool passing() const { return waited && holder == no_rank; }
  constexpr bool operator==(const state&) const = default;
};

constexpr std::uint64_t make(const state& s) {
  return std::uint64_t{s.serial} << 40 | std::uint64_t{s.waited} << 32 | (s.holder + 1u);
}
constexpr state read(std::uint64_t word) {
  return {static_cast<std::uint32_t>(word >> 40), (word >> 32 & 1) != 0,
          static_cast<std::uint32_t>(word) - 1u};
}
static_assert(read(make({most_serial, true, 7})) == state{most_serial, true, 7});
static_assert(read(make({1, false, no_rank})) == state{1, false, no_rank});

} // namespace lock_word
} // namespace weft::control
