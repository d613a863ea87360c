// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "lock.h"

#include <exception>

namespace weft {

namespace detail {
// upc_all_lock_free; nothing behind the end of the library. An error ends the job with its line.
WEFT_EXPORT void free_lock(upc_lock_t lock) noexcept;
} // namespace detail

// A lock as the standard library takes one:
//
//   weft::mutex m;
//   const std::lock_guard hold(m);
//
// Made without an argument, by all ranks together, it has a lock of its own, which is freed at the end of its
// scope, collectively too. With one it refers to that lock, and does not free it.
class mutex {
public:
  mutex() : lock_(upc_all_lock_alloc()), exceptions_(std::uncaught_exceptions()), owner_(true) {}
  explicit constexpr mutex(upc_lock_t lock) noexcept : lock_(lock) {}
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  ~mutex() {
    if (owner_ && std::uncaught_exceptions() == exceptions_) detail::free_lock(lock_);
  }

  void lock() { upc_lock(lock_); }
  bool try_lock() { return upc_lock_attempt(lock_) != 0; }
  void unlock() { upc_unlock(lock_); }
  constexpr upc_lock_t native_handle() const noexcept { return lock_; }

private:
  upc_lock_t lock_;
  int exceptions_ = 0;
  bool owner_ = false;
};

} // namespace weft
