// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace weft::progress {

// The handles of outstanding operations.
//
// A handle is {generation: 44 bits, slot: 20 bits}; generations begin at 1, so 0 is never issued and stands
// for "complete". A slot serves one operation after the other, each with the next generation, and no
// generation twice: any copy of an old handle still says "complete" at the end of the run. A slot that has
// used up its generations is not issued again.
//
// Words, and what writes them
//   slot.word   {generation, pending bit}. The thread that popped the slot stores generation + 1 and
//               pending; the one completer clears the bit. No other rank writes. A waiter only reads.
//                 word newer than the handle, or equal without the bit   complete
//                 word equal with the bit                                pending
//                 word older, or no such slot                            never issued
//   slot.next   link of the free list, meaningful while the slot is in it; written before the push. A popper
//               that is about to lose may read it late, therefore it is atomic; its value is then discarded.
//   free_       {pops: 43 bits, slot + 1: 21 bits}, a stack of free slots:
//               the slot used last is used next, its
//               line is still in the cache. The count of pops is the tag that defeats ABA (a pop whose slot
//               was popped and pushed back meanwhile fails); as every allocation is a pop, it also counts
//               the allocations.
//   chunks_     1024 slots each, added on demand and never moved or freed before the table is. Written under
//               growth_, read by anyone.
//   completed_  number of completions, incremented after the word it tells about.
//
// Orders
//   complete() releases the word, query() acquires it: any rank that sees "complete" sees everything that the
//   completer did before, in particular the operation's data and error. Seeing a *later* generation orders
//   the same way: complete -> push releases, pop acquires -> the store of the new word releases.
//   completed_ is incremented with release and read with acquire: a rank that reads it before a scan of many
//   handles and finds none complete needs no new scan until it has moved.
//   push releases, pop acquires: data that an engine keeps per slot pass from one operation to the next.
//   chunks_ releases and acquires: a reader of the pointer sees initialised slots.
//   any_errors_ is relaxed: it is set before complete() releases, and asked for after query() acquired.
//
// allocate, complete and query are lock-free, except for an allocate that has to add a chunk, or finds the
// table full. A completed handle's slot is free at once; there is nothing to give back. A rank that has seen
// "complete" counts on that slot, although its completer may not have pushed it yet: an allocate that finds
// the list empty at the cap looks at the words, and waits for the push of a slot that is not pending.
class completion_table {
public:
  enum class status { complete, pending, never_issued };

  static constexpr unsigned slot_bits = 20;
  static constexpr std::size_t slots_max = std::size_t{1} << slot_bits;
  static constexpr std::size_t chunk_slots = 1024;
  static constexpr std::uint64_t generation_max = (std::uint64_t{1} << (64 - slot_bits)) - 1;

  // `capacity` operations may be outstanding at once (at most slots_max). The first generation is 1, except
  // where the end of a long run is to be tested.
  explicit completion_table(std::size_t capacity = slots_max, std::uint64_t first_generation = 1);
  ~completion_table();
  completion_table(const completion_table&) = delete;
  completion_table& operator=(const completion_table&) = delete;

  static constexpr std::uint32_t index(std::uint64_t handle) noexcept {
    return static_cast<std::uint32_t>(handle & (slots_max - 1));
  }
  static constexpr std::uint64_t generation(std::uint64_t handle) noexcept { return handle >> slot_bits; }

  // Any thread. A handle that is pending from now on, or 0 when as many as allowed are outstanding. Throws
  // std::bad_alloc when a further chunk cannot be had.
  [[nodiscard]] std::uint64_t allocate() {
    std::uint32_t slot = pop();
    if (slot == none) [[unlikely]] {
      slot = grow();
      if (slot == none) return 0;
    }
    std::atomic<std::uint64_t>& word = at(slot).word;
    const std::uint64_t next = (word.load(std::memory_order_relaxed) >> 1) + 1;
    word.store(next << 1 | pending_bit, std::memory_order_release);
    return next << slot_bits | slot;
  }

  // Any thread, once per handle that is pending.
  void complete(std::uint64_t handle) noexcept {
    slot_state& slot = at(index(handle));
    slot.word.store(generation(handle) << 1, std::memory_order_release);
    if (generation(handle) < generation_max) [[likely]]
      push(index(handle), slot);
    completed_.fetch_add(1, std::memory_order_release);
  }

  // Any thread, any value.
  status query(std::uint64_t handle) const noexcept {
    if (handle == 0) return status::complete;
    const slot_state* chunk = chunks_[index(handle) / chunk_slots].load(std::memory_order_acquire);
    if (chunk == nullptr || generation(handle) < first_generation_) return status::never_issued;
    const std::uint64_t word = chunk[index(handle) % chunk_slots].word.load(std::memory_order_acquire);
    if (word == (generation(handle) << 1 | pending_bit)) return status::pending;
    return generation(handle) <= word >> 1 ? status::complete : status::never_issued;
  }

  // Any thread. Moves with every completion.
  std::uint64_t completions() const noexcept { return completed_.load(std::memory_order_acquire); }

  // Any thread. Exact when no rank allocates or completes meanwhile, else perhaps too high: completions are
  // read first.
  std::size_t outstanding() const noexcept {
    const std::uint64_t completed = completed_.load(std::memory_order_acquire);
    const std::uint64_t allocated = free_.load(std::memory_order_relaxed) >> link_bits;
    return static_cast<std::size_t>((allocated - completed) & (~std::uint64_t{0} >> link_bits));
  }

  // Any thread, instead of complete(): the handle is complete, and its error waits to be taken. An error that
  // there is no memory to keep ends the job: no rank may take the operation for one that went well.
  void fail(std::uint64_t handle, std::exception_ptr error) noexcept;

  // Any thread, after query() said complete: the error of this very operation, to the first that asks.
  std::exception_ptr take_error(std::uint64_t handle) {
    if (!any_errors_.load(std::memory_order_relaxed)) [[likely]]
      return nullptr;
    return extract_error(handle);
  }

private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct slot_state {
    std::atomic<std::uint64_t> word{0};
    std::atomic<std::uint32_t> next{none};
  };

public:
  static constexpr std::size_t slot_bytes = sizeof(slot_state);

private:
  static constexpr std::uint64_t pending_bit = 1;
  static constexpr unsigned link_bits = slot_bits + 1;
  static constexpr std::uint64_t link_mask = (std::uint64_t{1} << link_bits) - 1;
  static constexpr std::uint64_t one_pop = std::uint64_t{1} << link_bits;

  // The free list names slots by number + 1, so that an empty list is 0.
  static constexpr std::uint32_t first(std::uint64_t list) noexcept {
    return static_cast<std::uint32_t>(list & link_mask) - 1;
  }
  static constexpr std::uint64_t link(std::uint32_t slot) noexcept { return std::uint32_t(slot + 1); }

  slot_state& at(std::uint32_t slot) const noexcept {
    return chunks_[slot / chunk_slots].load(std::memory_order_acquire)[slot % chunk_slots];
  }

  std::uint32_t pop() noexcept {
    std::uint64_t seen = free_.load(std::memory_order_acquire);
    while (first(seen) != none) {
      const std::uint32_t next = at(first(seen)).next.load(std::memory_order_relaxed);
      const std::uint64_t after = ((seen & ~link_mask) + one_pop) | link(next);
      if (free_.compare_exchange_weak(seen, after, std::memory_order_acq_rel, std::memory_order_acquire)) {
        return first(seen);
      }
    }
    return none;
  }

  void push(std::uint32_t slot, slot_state& last) noexcept {
    std::uint64_t seen = free_.load(std::memory_order_relaxed);
    do {
      last.next.store(first(seen), std::memory_order_relaxed);
    } while (!free_.compare_exchange_weak(seen, (seen & ~link_mask) | link(slot), std::memory_order_release,
                                          std::memory_order_relaxed));
  }

  std::uint32_t grow();
  bool all_taken() const noexcept;
  std::exception_ptr extract_error(std::uint64_t handle);

  const std::size_t capacity_;
  const std::uint64_t first_generation_;
  std::array<std::atomic<slot_state*>, slots_max / chunk_slots> chunks_{};
  std::mutex growth_;
  std::size_t grown_ = 0; // slots made so far, under growth_
  std::mutex errors_lock_;
  std::unordered_map<std::uint64_t, std::exception_ptr> errors_; // under errors_lock_
  std::atomic<bool> any_errors_{false};
  // Lines of their own: allocators write the first, scanning waiters read the second.
  alignas(64) std::atomic<std::uint64_t> free_{0};
  alignas(64) std::atomic<std::uint64_t> completed_{0};
};

// A handle that is complete at the end of the scope, unless its operation has begun.
class reserved_handle {
public:
  explicit reserved_handle(completion_table& table) : table_(table), value_(table.allocate()) {}
  ~reserved_handle() {
    if (value_ != 0) table_.complete(value_);
  }
  reserved_handle(const reserved_handle&) = delete;
  reserved_handle& operator=(const reserved_handle&) = delete;

  // 0: as many as allowed are outstanding.
  std::uint64_t value() const noexcept { return value_; }
  std::uint64_t release() noexcept { return std::exchange(value_, 0); }

private:
  completion_table& table_;
  std::uint64_t value_;
};

} // namespace weft::progress
