// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace weft::control {

// Where a lock lives: in the memory of its home, at this place; `serial` tells it from those that lived there
// before.
struct lock_name {
  std::uint32_t home = 0;
  std::uint32_t serial = 0; // 0: no lock
  std::uint64_t offset = 0;
};

enum class lock_status : std::uint8_t {
  done,        // it is held now, or returned, or freed
  busy,        // a rank holds it
  own,         // the caller holds it already
  not_held,    // the caller does not hold it
  no_lock,     // it was freed, or there was none
  holder_died, // and no rank will return it
  no_memory,   // for those that wait
};
struct lock_outcome {
  lock_status status = lock_status::done;
  std::uint32_t holder = ~std::uint32_t{0}; // where it matters, and one is known
};

// Locks, as the public calls see them. All throw when the home has died.
class lock_calls {
public:
  virtual lock_name allocate() = 0;     // serial 0: no room
  virtual lock_name allocate_all() = 0; // collective
  virtual lock_outcome lock(const lock_name& l) = 0;
  virtual lock_outcome attempt(const lock_name& l) = 0;
  virtual lock_outcome unlock(const lock_name& l) = 0;
  virtual lock_outcome free(const lock_name& l) = 0;
  virtual lock_outcome free_all(const lock_name& l) = 0; // collective

protected:
  ~lock_calls() = default;
};

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
