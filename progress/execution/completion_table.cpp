// SPDX-License-Identifier: BSD-3-Clause
#include "progress/execution/completion_table.hpp"

#include "engine/out_of_memory.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

namespace weft::progress {

completion_table::completion_table(std::size_t capacity, std::uint64_t first_generation)
    : capacity_{capacity}, first_generation_{first_generation} {
  if (capacity == 0 || capacity > slots_max) {
    throw std::invalid_argument{"the number of outstanding operations must be 1 to 1048576"};
  }
  if (first_generation == 0 || first_generation > generation_max) {
    throw std::invalid_argument{"the first generation of a handle must be 1 to 2^44 - 1"};
  }
}

completion_table::~completion_table() {
  for (std::atomic<slot_state*>& chunk : chunks_)
    delete[] chunk.load(std::memory_order_relaxed);
}

// Under growth_, at the cap. A word that is not pending is that of a slot on its way into the list or out of
// it.
bool completion_table::all_taken() const noexcept {
  for (std::uint32_t slot = 0; slot != capacity_; ++slot) {
    const std::uint64_t word = at(slot).word.load(std::memory_order_relaxed);
    if ((word & pending_bit) == 0 && word >> 1 != generation_max) return false;
  }
  return true;
}

// Adds a chunk and returns one of its slots, or `none` at the cap. Others may empty the new chunk before this
// thread gets a slot, therefore the loop; and a thread that waited for the lock looks into the list first.
std::uint32_t completion_table::grow() {
  const std::lock_guard guard{growth_};
  for (;;) {
    const std::uint32_t slot = pop();
    if (slot != none) return slot;
    if (grown_ == capacity_) {
      if (all_taken()) return none;
      std::this_thread::yield();
      continue;
    }

    const std::size_t begin = grown_;
    const std::size_t end = std::min(begin + chunk_slots, capacity_);
    auto* chunk = new slot_state[chunk_slots];
    for (std::size_t i = begin; i < end; ++i) {
      chunk[i - begin].word.store((first_generation_ - 1) << 1, std::memory_order_relaxed);
    }
    chunks_[begin / chunk_slots].store(chunk, std::memory_order_release);
    grown_ = end;
    // From the back, so that the lowest slot is issued first.
    for (std::size_t i = end; i-- > begin;)
      push(static_cast<std::uint32_t>(i), chunk[i - begin]);
  }
}

void completion_table::fail(std::uint64_t handle, std::exception_ptr error) noexcept {
  try {
    const std::lock_guard guard{errors_lock_};
    errors_.insert_or_assign(handle, std::move(error));
    any_errors_.store(true, std::memory_order_relaxed);
  } catch (const std::bad_alloc&) {
    engine::end_out_of_memory("the error of an operation");
  }
  complete(handle);
}

std::exception_ptr completion_table::extract_error(std::uint64_t handle) {
  const std::lock_guard guard{errors_lock_};
  const auto node = errors_.extract(handle);
  if (errors_.empty()) any_errors_.store(false, std::memory_order_relaxed);
  return node ? node.mapped() : nullptr;
}

} // namespace weft::progress
