// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/memory/full_fence.hpp"

#include <atomic>
#include <cstdint>

namespace weft::progress {

// "I sleep, ring me": how a rank that waits for a store in shared memory sleeps without missing it, and how
// the others find out that they have to ring. A store alone wakes no rank, and a ring costs microseconds.
//
// Words, both in memory that all ranks of the host map, both zero at first
//   word       one per rank: 1 while it sleeps or is about to; written by that rank only, by one thread at a
//              time (the one that may block on the rank's doorbell)
//   sleepers   one per host: how many words are 1; each rank adds and removes itself
//
//   sleeper                                      signaller
//     announce():  count and word up               store the data
//                  full fence                      needs_ring():  full fence
//     look for data once more                                     sleepers == 0 ? no
//     nothing: block until rung                                   word == 0 ? no : ring
//     cancel():    word and count down
//
// This is Dekker's pattern: each side stores, fences, and reads what the other has stored. The fences are
// sequentially consistent, hence one of them comes first, and the side whose fence comes second sees the
// other's store: the sleeper sees the data, or the signaller sees the sleeper. Acquire and release would
// allow both to miss (a store may wait in the store buffer while the next load is served).
//
// The flag carries no data: a rank that finds the data acquires it from the signal itself. Everything else is
// therefore relaxed.
//
// Every signaller that finds the flag rings, although one would do: if the first could claim the ring and was
// then stopped or died, no other would wake the sleeper. The surplus rings are absorbed by the doorbell.
// For the same reason a rank that dies asleep does no harm: its count stays up and costs the others the
// look at one more word.
//
// Lifetime: a view; the words outlive it.
class sleep_flag {
public:
  sleep_flag(std::atomic<std::uint32_t>& word, std::atomic<std::uint32_t>& sleepers) noexcept
      : word_{&word}, sleepers_{&sleepers} {}

  // The sleeper, before it looks for the last time. Must not be announced already.
  void announce() noexcept {
    sleepers_->fetch_add(1, std::memory_order_relaxed);
    word_->store(1, std::memory_order_relaxed);
    engine::full_fence();
  }

  // The sleeper, when it is awake again or found something at the last look.
  void cancel() noexcept {
    word_->store(0, std::memory_order_relaxed);
    sleepers_->fetch_sub(1, std::memory_order_relaxed);
  }

  // A signaller, after the store of the data. When all are awake this reads the host's word alone.
  [[nodiscard]] bool needs_ring() const noexcept {
    engine::full_fence();
    return needs_ring_after_fence();
  }

  // The same for a signaller of several ranks: it stores all the data, calls full_fence() once, and then
  // asks for each.
  [[nodiscard]] bool needs_ring_after_fence() const noexcept {
    return sleepers_->load(std::memory_order_relaxed) != 0 && word_->load(std::memory_order_relaxed) != 0;
  }

private:
  std::atomic<std::uint32_t>* word_;
  std::atomic<std::uint32_t>* sleepers_;
};

static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "the words are shared between processes");

} // namespace weft::progress
