#pragma once
#include "lock.h"

namespace weft {

// A lock as the standard library takes one:
//
//   weft::mutex m(upc_all_lock_alloc());
//   const std::lock_guard hold(m);
//
// Refers to the lock, and does not free it.
class mutex {
public:
  explicit constexpr mutex(upc_lock_t lock) noexcept : lock_(lock) {}

  void lock() { upc_lock(lock_); }
  bool try_lock() { return upc_lock_attempt(lock_) != 0; }
  void unlock() { upc_unlock(lock_); }
  constexpr upc_lock_t native_handle() const noexcept { return lock_; }

private:
  upc_lock_t lock_;
};

} // namespace weft
