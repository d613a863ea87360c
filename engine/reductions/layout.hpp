// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft::reductions {

// Where the elements of `shared [block] TYPE A[elements]` lie, the first of them at `at` on thread `first` in
// phase `phase` (collectives V1.0, 4.3; library of UPC 1.3, 6.4). Block b is on thread (first + b) mod
// threads. All blocks of a thread follow each other in its memory, at the same places on all threads: a row
// is a block of each.
struct layout {
  std::uint64_t at = 0; // bytes from the beginning of the segment
  std::uint64_t elements = 0;
  std::uint64_t block = 1; // at least 1
  std::uint32_t phase = 0; // less than the block
  std::uint32_t first = 0;
  std::uint32_t threads = 1;
  std::uint32_t size = 1; // bytes of an element
  std::uint64_t blocks = 0;

  // Block size 0: all of them on the first thread.
  static layout of(std::uint64_t at, std::uint64_t elements, std::uint64_t block, std::uint32_t phase,
                   std::uint32_t first, std::uint32_t threads, std::uint32_t size) {
    layout l{at, elements, block, phase, first, threads, size};
    if (block == 0) l.block = std::max<std::uint64_t>(elements, 1), l.phase = 0;
    l.blocks = elements == 0 ? 0 : l.block_of(elements - 1) + 1;
    return l;
  }

  // Most arrays have a block or two on each thread: what follows divides only where there are more.
  std::uint32_t thread_of(std::uint64_t b) const {
    return static_cast<std::uint32_t>(first + b - row_of(b) * threads);
  }
  std::uint64_t row_of(std::uint64_t b) const { return quotient(first + b, threads); }
  // The first element of a block, and the first one behind it.
  std::uint64_t begin_of(std::uint64_t b) const { return b == 0 ? 0 : b * block - phase; }
  std::uint64_t end_of(std::uint64_t b) const { return std::min(elements, (b + 1) * block - phase); }
  std::uint64_t block_of(std::uint64_t element) const { return quotient(phase + element, block); }
  std::uint64_t address_of(std::uint64_t element) const {
    const std::uint64_t b = block_of(element), in_block = phase + element - b * block;
    return at + (row_of(b) * block + in_block - phase) * size;
  }

  // The first block of a thread, and how many it has.
  std::uint64_t first_of(std::uint32_t thread) const {
    return thread >= first ? thread - first : thread + threads - first;
  }
  std::uint64_t rows_of(std::uint32_t thread) const {
    const std::uint64_t mine = first_of(thread);
    return mine >= blocks ? 0 : quotient(blocks - 1 - mine, threads) + 1;
  }
  std::uint64_t most_rows() const { return blocks == 0 ? 0 : quotient(blocks - 1, threads) + 1; }

  // What a thread has of the elements [begin, end): it lies together.
  struct span {
    std::uint64_t at = 0, elements = 0;
  };
  span of_thread(std::uint32_t thread, std::uint64_t begin, std::uint64_t end) const {
    if (begin >= end) return {};
    const std::uint64_t low = next_of(thread, begin), high = next_of(thread, end);
    if (low >= end) return {};
    const std::uint64_t from = address_of(low);
    return {from, (address_of(high) - from) / size}; // a thread's blocks have nothing between them
  }
  span of_thread(std::uint32_t thread) const { return of_thread(thread, 0, elements); }

private:
  static std::uint64_t quotient(std::uint64_t a, std::uint64_t b) {
    return a < b ? 0 : a - b < b ? 1 : a / b;
  }
  // The first element from this one on that a thread has, be there so many elements or not.
  std::uint64_t next_of(std::uint32_t thread, std::uint64_t element) const {
    const std::uint64_t b = block_of(element), of = thread_of(b);
    const std::uint64_t away = thread >= of ? thread - of : thread + threads - of;
    return away == 0 ? element : begin_of(b + away);
  }
};

// The elements of an array from one on, in their order: a run of those that lie together on a thread after
// the other.
class block_walk {
public:
  block_walk(const layout& l, std::uint64_t element)
      : layout_(l), element_(element), block_(l.block_of(element)), thread_(l.thread_of(block_)),
        row_(l.row_of(block_)) {}

  std::uint64_t element() const { return element_; }
  std::uint32_t thread() const { return thread_; }
  // Of the present block, from the present element on, but for what lies at or behind `end`.
  std::uint64_t run(std::uint64_t end) const { return std::min(end, layout_.end_of(block_)) - element_; }
  std::uint64_t address() const {
    const std::uint64_t from_virtual = element_ + layout_.phase - block_ * layout_.block;
    return layout_.at + (row_ * layout_.block + from_virtual - layout_.phase) * layout_.size;
  }
  // `count` of run() are through.
  void pass(std::uint64_t count) {
    element_ += count;
    if (element_ + layout_.phase != (block_ + 1) * layout_.block) return;
    ++block_;
    if (++thread_ == layout_.threads) {
      thread_ = 0;
      ++row_;
    }
  }

private:
  const layout& layout_;
  std::uint64_t element_, block_;
  std::uint32_t thread_;
  std::uint64_t row_;
};

// The elements of a run, which is often a single number.
inline void copy_run(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  switch (bytes) {
  case 4:
    std::memcpy(to, from, 4);
    return;
  case 8:
    std::memcpy(to, from, 8);
    return;
  default:
    std::memcpy(to, from, bytes);
  }
}

} // namespace weft::reductions
