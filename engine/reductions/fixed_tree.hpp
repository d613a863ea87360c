// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/reductions/kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft::reductions {

// Brackets that depend on nothing but the indices of the elements: leaves of so many elements that lie one
// behind the other, and over them a binary tree, in which two neighbours are joined if the left one begins at
// a multiple of twice their length. Any run of leaves is a few whole subtrees, always the same ones: they are
// what a member makes of its elements, and they are joined to larger ones wherever they meet their siblings.
inline constexpr std::uint64_t leaf_elements = 256;
inline constexpr std::uint32_t most_subtrees = 64;

inline std::uint64_t leaves_of(std::uint64_t elements) {
  return (elements + leaf_elements - 1) / leaf_elements;
}

// The subtrees of a run of leaves, from left to right, their values one behind the other where the owner
// keeps them.
class subtree_row {
public:
  subtree_row(std::byte* values, std::size_t size, const kernels& how, const void* argument)
      : values_(values), size_(size), how_(how), argument_(argument) {}

  std::uint32_t count() const { return count_; }
  std::byte* value(std::uint32_t k) const { return values_ + k * size_; }

  // What a row of the leaves [begin, end) consists of; its values are there already.
  void assume(std::uint64_t begin, std::uint64_t end) {
    count_ = 0;
    each(begin, end, [&](std::uint64_t at, unsigned level) { trees_[count_++] = {at, level}; });
  }
  template <class Visit> static void each(std::uint64_t begin, std::uint64_t end, Visit&& visit) {
    while (begin != end) {
      const unsigned most = static_cast<unsigned>(std::bit_width(end - begin)) - 1;
      const unsigned level =
          begin == 0 ? most : std::min(most, static_cast<unsigned>(std::countr_zero(begin)));
      visit(begin, level);
      begin += std::uint64_t{1} << level;
    }
  }

  // The next one to the right.
  void push(std::uint64_t at, unsigned level, const void* value) {
    std::memcpy(this->value(count_), value, size_);
    trees_[count_++] = {at, level};
    while (count_ >= 2 && are_siblings(trees_[count_ - 2], trees_[count_ - 1])) {
      --count_;
      how_.combine(this->value(count_ - 1), this->value(count_), 1, argument_);
      ++trees_[count_ - 1].level;
    }
  }

  // What all of them make, the right ones first: false if there are none.
  bool whole(std::byte* into) const {
    if (count_ == 0) return false;
    std::memcpy(into, value(count_ - 1), size_);
    alignas(16) std::array<std::byte, 32> left;
    for (std::uint32_t k = count_ - 1; k-- != 0;) {
      std::memcpy(left.data(), value(k), size_);
      how_.combine(left.data(), into, 1, argument_);
      std::memcpy(into, left.data(), size_);
    }
    return true;
  }

private:
  struct subtree {
    std::uint64_t at = 0; // its first leaf
    unsigned level = 0;
  };
  static bool are_siblings(const subtree& a, const subtree& b) {
    return a.level == b.level && (a.at >> a.level) % 2 == 0;
  }

  std::byte* values_;
  std::size_t size_;
  const kernels& how_;
  const void* argument_;
  std::uint32_t count_ = 0;
  std::array<subtree, most_subtrees + 1> trees_;
};

} // namespace weft::reductions
