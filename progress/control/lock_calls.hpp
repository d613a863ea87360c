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

} // namespace weft::control
