#pragma once

#include <atomic>

namespace weft::progress {

// Intrusive lock-free queue from any number of producers to one consumer, which may be another thread each
// time: the consumer is whoever holds the baton.
//
// One word, head_, is the whole state
//   null       active, nothing queued: a consumer is watching
//   this       inactive, nothing queued: nobody is watching
//   an item    the newest item of a chain linked through Next; the oldest item's link is null
//
//            push (returns true)                push (false)
//   this ------------------------> item chain <-------------- null, item chain
//   item chain -- take_all --> null          null -- try_mark_inactive --> this -- mark_active --> null
//
// Producers only move the word to an item of theirs; every other move is the consumer's. Hence take_all() may
// look first and exchange later: what it saw cannot have gone away.
//
// Exactly one producer rings: the one whose push replaces `this` has taken the mark away, so nobody else sees
// it. It must see to a driver (take the baton itself, or ring the dedicated thread). The consumer re-checks
// by the same compare-and-swap that sets the mark, so between "nothing queued" and "nobody watches" no item
// can slip in: either the mark fails because of the item, or the item's producer finds the mark.
//
// Orders
//   push releases, take_all acquires: the consumer sees the item as its producer left it. Later pushes are
//   read-modify-writes and continue the release sequence, so the one acquire covers the whole chain.
//   try_mark_inactive releases, push acquires: the producer that must ring sees what the consumer did before
//   it left, e.g. the state of the thing to be rung.
//   Consumer to consumer is ordered by the baton, not here.
//
// Ownership: from push to take_all an item belongs to the queue and its Next to nobody else. After that the
// consumer may free or re-push it, also while another producer still runs its push: a producer never
// follows a link, it only compares addresses, and an address that has come back is as good as the old one
// (what is linked behind it was put there by whoever pushed it last).
//
// Lifetime: the queue owns no item; whoever destroys it has taken them all. It cannot move: the mark is its
// own address, which is never the address of an item.
template <class T, T* T::*Next> class submission_queue {
public:
  submission_queue() = default;
  submission_queue(const submission_queue&) = delete;
  submission_queue& operator=(const submission_queue&) = delete;

  // Any thread. True for the one producer that found the consumer inactive and so must find a driver.
  [[nodiscard]] bool push(T* item) noexcept {
    void* seen = head_.load(std::memory_order_relaxed);
    do {
      item->*Next = seen == mark() ? nullptr : static_cast<T*>(seen);
    } while (!head_.compare_exchange_weak(seen, item, std::memory_order_acq_rel, std::memory_order_relaxed));
    return seen == mark();
  }

  // Consumer only. Everything queued, linked through Next, oldest first; null when there is nothing. An
  // inactive queue stays inactive.
  T* take_all() noexcept {
    if (empty()) return nullptr;
    return reversed(static_cast<T*>(head_.exchange(nullptr, std::memory_order_acquire)));
  }

  // Consumer only, before it stops watching. False when something is queued and must be taken first.
  [[nodiscard]] bool try_mark_inactive() noexcept {
    void* seen = nullptr;
    return head_.compare_exchange_strong(seen, mark(), std::memory_order_release,
                                         std::memory_order_relaxed) ||
           seen == mark();
  }

  // Consumer only, when it watches again. True when the mark was still there; false when the queue had become
  // active already, because nobody left it or because a producer has pushed.
  bool mark_active() noexcept {
    if (head_.load(std::memory_order_relaxed) != mark()) return false;
    void* seen = mark();
    return head_.compare_exchange_strong(seen, nullptr, std::memory_order_relaxed);
  }

  // Any thread: a hint, one relaxed load.
  bool empty() const noexcept {
    const void* seen = head_.load(std::memory_order_relaxed);
    return seen == nullptr || seen == this;
  }

  // Any thread: a hint. False means that nobody is watching.
  bool active() const noexcept { return head_.load(std::memory_order_relaxed) != this; }

private:
  void* mark() noexcept { return this; }

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
  alignas(64) std::atomic<void*> head_{nullptr};
};

} // namespace weft::progress
