// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/call.hpp"

#include <algorithm>

namespace calls {

struct spot {
  std::uint32_t thread;
  std::uint64_t offset;
};

// Of `shared [blk_size] ELEMENT A[nelems]` over some threads, by the rule of the texts: where its elements
// lie.
class array {
public:
  array(const call& c, const place& first, const members& over)
      : first_(first), over_(over), size_(c.of->size), block_(c.blk_size) {
    at_ = static_cast<std::uint64_t>(std::find(over.begin(), over.end(), first.thread) - over.begin());
  }
  spot at(std::uint64_t index) const {
    if (block_ == 0) return {first_.thread, first_.offset + index * size_};
    const std::uint64_t far = first_.phase + index, block = at_ + far / block_;
    const std::uint64_t row = block / over_.size() * block_ + far % block_;
    return {over_[block % over_.size()], first_.offset + (row - first_.phase) * size_};
  }
  // Bytes of a thread's part of so many elements, with what lies in front of the first one.
  static std::uint64_t extent(const call& c, std::uint64_t phase, std::size_t threads) {
    if (c.blk_size == 0) return c.nelems * c.of->size;
    return ((phase + c.nelems) / (c.blk_size * threads) + 2) * c.blk_size * c.of->size;
  }

private:
  const place first_;
  const members& over_;
  const std::uint64_t size_, block_;
  std::uint64_t at_ = 0;
};

} // namespace calls
