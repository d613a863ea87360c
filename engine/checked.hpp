// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>

namespace weft::engine {

// A number that a user gave, of bytes, elements or blocks, and whatever is computed from it. Sums and
// products stop at the largest value instead of wrapping, and no memory has so many bytes: what compares the
// result with what there is refuses it. Only plain() makes an ordinary number of it, for the
// place where that has been done; so the comparison cannot be forgotten.
class checked {
public:
  constexpr checked() = default;
  constexpr checked(std::uint64_t value) : value_(value) {}

  constexpr std::uint64_t plain() const { return value_; }

  friend constexpr checked operator+(checked a, checked b) {
    std::uint64_t sum = 0;
    return __builtin_add_overflow(a.value_, b.value_, &sum) ? most : sum;
  }
  friend constexpr checked operator*(checked a, checked b) {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a.value_, b.value_, &product) ? most : product;
  }
  friend constexpr auto operator<=>(const checked&, const checked&) = default;
  friend constexpr bool operator==(const checked&, const checked&) = default;

private:
  static constexpr std::uint64_t most = ~std::uint64_t{0};

  std::uint64_t value_ = 0;
};

} // namespace weft::engine
