// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstdint>

namespace weft::progress {

// The right to drive an engine: its transport, its executor, the consumer side of its submission queue.
// At most one thread holds it; nothing that it protects needs a lock or an atomic of its own.
//
// Words, and which threads write them
//   held_     false -> true by the thread that wins try_acquire(), true -> false by that thread in release()
//   wanted_   number of application threads that would drive, and of threads that need progress ownership for
//             something of their own, each in its half; each thread adds and removes itself
//
// Orders
//   release() stores with release and the winning exchange of try_acquire() loads with acquire: everything
//   that one owner did happens before everything that the next owner does.
//   wanted_ carries no data, it is a hint that has to become visible some time: relaxed.
//
// Hand-over
//   A thread that wants progress ownership says so with an ownership_request and tries until it has it. No
//   thread is preempted: an owner looks between two passes over its operations, a piece of a large copy
//   apart, and lets go by itself. The progress thread does so for any thread, an application thread that
//   waits only for one that needs progress ownership itself: another one that waits is served by the thread
//   that drives. They stay away while the request lasts. No thread may sleep while holding progress
//   ownership, else a request would wait for the sleeper.
//
// What release() is not
//   It is a plain store on x86, not a fence: an owner that looks into the submission queue, finds nothing and
//   then releases can miss an item pushed in between by a thread that failed to acquire. So it releases,
//   fences and looks into the queue again; the producer pushes, fences and looks at progress ownership.
//
// Lifetime: progress ownership outlives every thread that may touch it. Destroying it while held is an error.
// One cache line of its own, so that waiting threads disturb no other data.
class alignas(64) ownership {
public:
  ownership() = default;
  ownership(const ownership&) = delete;
  ownership& operator=(const ownership&) = delete;

  // Tests before it exchanges: a crowd of waiting threads shares the line and does not steal it.
  bool try_acquire() noexcept {
    if (held_.load(std::memory_order_relaxed)) return false;
    return !held_.exchange(true, std::memory_order_acquire);
  }

  void release() noexcept { held_.store(false, std::memory_order_release); }

  // Hints: the answers may be old when they arrive.
  bool held() const noexcept { return held_.load(std::memory_order_relaxed); }
  bool requested() const noexcept { return wanted_.load(std::memory_order_relaxed) != 0; }
  bool needed() const noexcept { return wanted_.load(std::memory_order_relaxed) >= one_in_need; }

private:
  friend class ownership_request;
  static constexpr std::uint32_t one_waiting = 1, one_in_need = 1u << 16;

  std::atomic<bool> held_{false};
  std::atomic<std::uint32_t> wanted_{0};
};

// A wish for progress ownership, raised and dropped as its owner goes; withdrawn at the end of the scope.
class [[nodiscard]] ownership_request {
public:
  enum class what : std::uint8_t { to_drive, itself };

  explicit ownership_request(ownership& which, what for_what = what::itself, bool raised = true) noexcept
      : ownership_{which}, amount_{for_what == what::itself ? ownership::one_in_need
                                                            : ownership::one_waiting} {
    set(raised);
  }
  ~ownership_request() { set(false); }
  ownership_request(const ownership_request&) = delete;
  ownership_request& operator=(const ownership_request&) = delete;

  void set(bool raised) noexcept {
    if (raised == raised_) return;
    raised_ = raised;
    raised ? ownership_.wanted_.fetch_add(amount_, std::memory_order_relaxed)
           : ownership_.wanted_.fetch_sub(amount_, std::memory_order_relaxed);
  }

private:
  ownership& ownership_;
  const std::uint32_t amount_;
  bool raised_ = false;
};

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
