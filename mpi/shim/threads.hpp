// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Threads of the program. Below MPI_THREAD_MULTIPLE one of them at a time is in MPI, in an order that the
// program sees to. What only its calls touch needs no lock and no atomic step then: of a call of 8 bytes
// these would take a fifth.

#include <atomic>
#include <mutex>

namespace weft::mpi {

// Set before the first call is carried, by the level at which MPI has begun.
inline bool several_threads = true;

// A call's turn at what other calls of the program touch, too. `if_needed`: another thread may be there.
class turn {
public:
  explicit turn(std::mutex& of, bool if_needed = several_threads) : held_(if_needed ? &of : nullptr) {
    if (held_ != nullptr) held_->lock();
  }
  ~turn() {
    if (held_ != nullptr) held_->unlock();
  }
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;

private:
  std::mutex* const held_;
};

// Counts what calls of the program alone count.
template <class T> void add(std::atomic<T>& to, T number) {
  if (several_threads)
    to.fetch_add(number, std::memory_order_relaxed);
  else
    to.store(to.load(std::memory_order_relaxed) + number, std::memory_order_relaxed);
}

} // namespace weft::mpi
