// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "shared_array.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

// What a thread has of a shared array, as indices and as memory: `upc_forall` with an affinity expression,
// and the cast of a pointer-to-shared, for whole arrays. Everywhere an array may be a shared_array, or a
// typed pointer and a number of elements behind it; it has any block size, fixed, dynamic or 0, and the
// pointer any phase.
namespace weft {

// The indices of the elements with affinity to one thread, rising: `for (std::size_t i : weft::own(a))` is
// `upc_forall (i = 0; i < n; i++; &a[i])`. One addition and one comparison an element, at the end of a block
// one more.
class own_indices {
public:
  class iterator {
  public:
    using value_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    using iterator_concept = std::forward_iterator_tag;
    using reference = std::size_t;
    using pointer = void;

    iterator() = default;
    std::size_t operator*() const { return i_; }
    iterator& operator++() {
      if (++i_ == block_end_) [[unlikely]]
        next_block();
      return *this;
    }
    iterator operator++(int) {
      const iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const iterator& a, const iterator& b) { return a.i_ == b.i_; }
    friend bool operator==(const iterator& a, std::default_sentinel_t) { return a.i_ == a.end_; }

  private:
    friend own_indices;
    iterator(std::size_t i, std::size_t block_end, std::size_t block, std::size_t gap, std::size_t end)
        : i_(std::min(i, end)), block_end_(std::min(block_end, end)), block_(block), gap_(gap), end_(end) {}

    // To the end of all if there is no other block.
    void next_block() {
      i_ = end_ - i_ > gap_ ? i_ + gap_ : end_;
      block_end_ = end_ - i_ > block_ ? i_ + block_ : end_;
    }

    std::size_t i_ = 0, block_end_ = 0; // the block that i_ is in ends there, or the array
    std::size_t block_ = 0, gap_ = 0;   // elements of a block, and between two of the thread's
    std::size_t end_ = 0;
  };

  // Of `count` elements from a place on: `phase` elements from the beginning of a block of `first_thread`. A
  // block of 0 elements is all of them.
  own_indices(std::size_t count, std::size_t block, std::size_t first_thread, std::size_t phase,
              std::size_t thread, std::size_t threads) {
    if (block == 0 || threads == 1) {
      const bool mine = block != 0 || first_thread == thread;
      size_ = mine ? count : 0;
      begin_ = {mine ? 0 : count, count, count, 0, count};
      return;
    }
    // Elements are counted from the beginning of the round of blocks that the first one is in.
    const std::size_t round = block * threads, skipped = first_thread * block + phase;
    const std::size_t mine = thread * block;
    const bool passed = skipped >= mine + block;
    const std::size_t first = std::max(passed ? mine + round : mine, skipped);
    const std::size_t block_end = mine + block + (passed ? round : 0);
    const auto before = [&](std::size_t place) {
      const std::size_t rest = place % round;
      return place / round * block + (rest > mine ? std::min(rest - mine, block) : 0);
    };
    size_ = before(skipped + count) - before(skipped);
    begin_ = {first - skipped, block_end - skipped, block, round - block, count};
  }

  iterator begin() const { return begin_; }
  std::default_sentinel_t end() const { return {}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

private:
  iterator begin_;
  std::size_t size_ = 0;
};

// The indices of a thread, or of the calling one. Errors: before weft_init.
template <class T, std::size_t B>
own_indices indices_of(std::size_t thread, const ptr<T, B>& first, std::size_t count) {
  return {count,           first.block(), first.threadof(),
          first.phaseof(), thread,        static_cast<std::size_t>(upc_threads())};
}
template <class T, std::size_t B> own_indices indices_of(std::size_t thread, const shared_array<T, B>& a) {
  return indices_of(thread, a.begin(), a.size());
}
template <class T, std::size_t B> own_indices own(const ptr<T, B>& first, std::size_t count) {
  return indices_of(static_cast<std::size_t>(upc_mythread()), first, count);
}
template <class T, std::size_t B> own_indices own(const shared_array<T, B>& a) {
  return own(a.begin(), a.size());
}

// The elements of one thread, which lie one behind the other in its memory, in the order of their indices:
// the k-th is the k-th of indices_of(thread, ...). Empty if it has none, and also if it is not reached by
// loads and stores from here, which upc_thread_info tells. Errors: no such thread; the array is not in shared
// memory.
template <class T, std::size_t B>
std::span<T> local_of(std::size_t thread, const ptr<T, B>& first, std::size_t count) {
  const own_indices its = indices_of(thread, first, count);
  if (its.empty()) return {};
  T* const memory = (first + static_cast<std::ptrdiff_t>(*its.begin())).local();
  return memory == nullptr ? std::span<T>() : std::span<T>(memory, its.size());
}
template <class T, std::size_t B> std::span<T> local_of(std::size_t thread, const shared_array<T, B>& a) {
  return local_of(thread, a.begin(), a.size());
}

// The calling thread's.
template <class T, std::size_t B> std::span<T> local(const ptr<T, B>& first, std::size_t count) {
  return local_of(static_cast<std::size_t>(upc_mythread()), first, count);
}
template <class T, std::size_t B> std::span<T> local(const shared_array<T, B>& a) {
  return local(a.begin(), a.size());
}

// Those of all threads, by thread; empty where they are not reached.
template <class T, std::size_t B>
std::vector<std::span<T>> local_spans(const ptr<T, B>& first, std::size_t count) {
  std::vector<std::span<T>> spans;
  for (std::size_t t = 0; t != static_cast<std::size_t>(upc_threads()); ++t)
    spans.push_back(local_of(t, first, count));
  return spans;
}
template <class T, std::size_t B> std::vector<std::span<T>> local_spans(const shared_array<T, B>& a) {
  return local_spans(a.begin(), a.size());
}

} // namespace weft
