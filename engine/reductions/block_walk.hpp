// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/reductions/layout.hpp"

#include <cstddef>
#include <cstring>

namespace weft::reductions {

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
