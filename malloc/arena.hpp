// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <pthread.h>

namespace weft::memory {

// Hands out runs of whole pages of one range of memory. Its books lie elsewhere, in memory of their own from
// the system, so that no store past the end of an allocation reaches them; it calls no allocator.
//
// Of each run the first page's entry has its length, and the last page's too, so that a run that is given
// back finds its neighbours and is joined with those that are free. Free runs are in lists by their length,
// four from each power of two to the next.
//
// A page is clean when it has been used by none since the memory was made or given back to the system. What
// is free and not clean stays for the next allocations, up to `most_kept` bytes: memory that has been touched
// is cheaper than what has not.
//
// All calls may come from any thread at once. The lock is recursive: a thread that forks holds it, and the
// handlers of other libraries for that fork may allocate and free.
class arena {
public:
  static constexpr std::uint64_t page = 4096;

  arena() = default;
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  // The range begins and ends on a page, has at most 8 TiB, and no byte of it that is not 0. With
  // `most_kept` ~0 nothing is given back to the system. False if the system has no memory for the books.
  bool open(std::byte* begin, std::uint64_t bytes, std::uint64_t most_kept);
  // No more allocations from now on. True if nothing is allocated: then the memory may go, holds() is false,
  // and open() may be called once more.
  bool close();
  bool is_gone() const { return bytes_.load(std::memory_order_relaxed) == 0; }
  bool is_open() const { return open_.load(std::memory_order_relaxed); }

  // The range is written before its length (release).
  bool holds(const void* p) const {
    const std::uint64_t bytes = bytes_.load(std::memory_order_acquire);
    return reinterpret_cast<std::uintptr_t>(p) - begin_.load(std::memory_order_relaxed) < bytes;
  }
  // Null if there is no room, or it is not open. Alignment: a power of two.
  void* allocate(std::uint64_t bytes, std::uint64_t alignment);
  // Of what allocate() gave a moment ago: fills with zeros what is not clean.
  void clear(void* p, std::uint64_t bytes) const;
  // Bytes that the allocation has; 0 if none begins there.
  std::uint64_t usable(const void* p) const;
  // False if no allocation begins there.
  bool free(void* p);
  // In place: false if there is no room behind it.
  bool resize(void* p, std::uint64_t bytes);

  struct counts {
    std::uint64_t allocations = 0, live_bytes = 0, most_bytes = 0, refused = 0;
  };
  counts look() const;

  // For a fork: the memory is shared with other processes, and the child must not see what the parent and its
  // neighbours write from now on, nor they what the child writes. `copy` is called in the parent before the
  // fork and copies what is allocated; `forget_copy` in the parent behind it; `become_private` in the child
  // puts the copies in the place of the shared memory, page for page, and closes. False if there was no
  // memory for the copies: what was allocated is not there any more in the child. Under lock() throughout.
  void lock() const { pthread_mutex_lock(&mutex_); }
  void unlock() const { pthread_mutex_unlock(&mutex_); }
  // The same in the child, whose thread is another one to the lock.
  void unlock_in_child();
  void copy();
  void forget_copy();
  bool become_private();

private:
  static constexpr std::uint32_t used = 1u << 31, none = ~0u;
  static constexpr unsigned list_count = 128;
  // Of a page. `head`, if a run begins with it: its pages, and whether it is used; `tail`, if one ends with
  // it. 0 of others. next and prev of a free run's head.
  struct entry {
    std::uint32_t head, tail, next, prev;
  };

  static unsigned list_of(std::uint32_t pages);
  void make_run(std::uint32_t first, std::uint32_t pages, std::uint32_t use);
  void erase_run(std::uint32_t first);
  void enlist(std::uint32_t first);
  void take_out(std::uint32_t first);
  std::uint32_t find(std::uint32_t pages) const;
  std::uint32_t first_of(std::uint32_t pages, std::uint64_t align_pages);
  std::uint32_t join_free(std::uint32_t first);
  void release(std::uint32_t first, std::uint32_t pages, bool clean);
  std::uint64_t not_clean(std::uint32_t first, std::uint32_t pages) const;
  void note(std::uint32_t first, std::uint32_t pages, bool clean);
  bool is_clean(std::uint32_t p) const;
  std::byte* at(std::uint32_t p) const {
    return reinterpret_cast<std::byte*>(begin_.load(std::memory_order_relaxed) + p * page);
  }
  std::uint32_t page_of(const void* p) const;
  std::uint32_t pages_for(std::uint64_t bytes) const;
  void count(std::int64_t pages);

  std::atomic<std::uintptr_t> begin_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::uint32_t pages_ = 0;
  std::uint64_t most_kept_ = 0, kept_ = 0; // in pages
  entry* entries_ = nullptr;
  std::atomic<std::uint64_t>* dirty_ = nullptr; // a bit for each page
  std::uint32_t lists_[list_count] = {};
  std::uint64_t listed_[2] = {}; // lists that are not empty
  std::atomic<bool> open_{false};
  counts counts_{};
  std::byte* copy_ = nullptr; // for the child of a fork
  std::uint64_t copied_ = 0;
  bool shared_ = true;
  mutable pthread_mutex_t mutex_ = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
};

} // namespace weft::memory
