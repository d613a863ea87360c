// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/call.hpp"
#include "tests/calls/dice.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

// Where the blocks of a case lie: never over each other, mostly with some bytes between that no call may
// write.
namespace calls {

// Hands out the arena from the bottom, at the same place on every thread.
class symmetric_space {
public:
  explicit symmetric_space(std::uint64_t begin) : end_(begin) {}
  std::uint64_t take(std::uint64_t bytes, std::uint64_t alignment, dice& d) {
    end_ += d.chance(20) ? 0 : d.between(1, 70);
    end_ = (end_ + alignment - 1) / alignment * alignment;
    const std::uint64_t at = end_;
    end_ += bytes;
    return at;
  }
  std::uint64_t end() const { return end_; }
  void advance(std::uint64_t end) { end_ = end; }

private:
  std::uint64_t end_;
};

// Blocks of any size at any place of each thread, in random order.
class scattered_blocks {
public:
  explicit scattered_blocks(std::uint32_t threads) : wanted_(threads) {}
  // `at` is set by settle().
  void want(place& at, std::uint64_t bytes) { wanted_[at.thread].push_back({&at, bytes}); }
  void settle(symmetric_space& space, dice& d) {
    std::uint64_t end = space.end();
    for (auto& blocks : wanted_) {
      d.shuffle(blocks);
      symmetric_space mine(space.end());
      for (const auto& [at, bytes] : blocks)
        at->offset = mine.take(bytes, 1, d);
      end = std::max(end, mine.end());
    }
    space.advance(end);
  }

private:
  struct block {
    place* at;
    std::uint64_t bytes;
  };
  std::vector<std::vector<block>> wanted_; // by thread
};

} // namespace calls
