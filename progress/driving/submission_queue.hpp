// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

namespace weft::progress {

// Intrusive lock-free queue from any number of producers to one consumer, which may be another thread each
// time: the consumer is the thread that holds progress ownership. How a producer makes sure that there is
// one, see ownership.hpp.
//
// One word, head_, is the whole state: the newest item of a chain linked through Next, whose oldest item's
// link is null; or null. Producers only move the word to an item of theirs, every other move is the
// consumer's. Hence take_all() may look first and exchange later: what it saw cannot have gone away.
//
// Orders
//   push releases, take_all acquires: the consumer sees the item as its producer left it. Later pushes are
//   read-modify-writes and continue the release sequence, so the one acquire covers the whole chain.
//   Consumer to consumer is ordered by progress ownership, not here.
//
// Ownership: from push to take_all an item belongs to the queue, and so does its Next. After that the
// consumer may free or re-push it, also while another producer still runs its push: a producer never
// follows a link, it only compares addresses, and an address that has come back is as good as the old one
// (what is linked behind it was put there by the thread that pushed it last).
//
// Lifetime: the queue owns no item; all have been taken when it is destroyed.
template <class T, T* T::*Next> class submission_queue {
public:
  submission_queue() = default;
  submission_queue(const submission_queue&) = delete;
  submission_queue& operator=(const submission_queue&) = delete;

  // Any thread.
  void push(T* item) noexcept {
    T* seen = head_.load(std::memory_order_relaxed);
    do {
      item->*Next = seen;
    } while (!head_.compare_exchange_weak(seen, item, std::memory_order_release, std::memory_order_relaxed));
  }

  // Consumer only. Everything queued, linked through Next, oldest first; null when there is nothing.
  T* take_all() noexcept {
    if (empty()) return nullptr;
    return reversed(head_.exchange(nullptr, std::memory_order_acquire));
  }

  // Any thread: a hint, one relaxed load.
  bool empty() const noexcept { return head_.load(std::memory_order_relaxed) == nullptr; }

private:
  static T* reversed(T* newest) noexcept {
    T* result = nullptr;
    while (newest != nullptr) {
      T* older = newest->*Next;
      newest->*Next = result;
      result = newest;
      newest = older;
    }
    return result;
  }

  // Alone on its line: producers write it, and the data around it belong to the consumer.
  alignas(64) std::atomic<T*> head_{nullptr};
};

} // namespace weft::progress
