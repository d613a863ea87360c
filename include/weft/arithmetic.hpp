// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "declare.h"
#include "types.h"

#include <cstddef>
#include <cstdint>

// The arithmetic of pointers-to-shared (UPC 1.3, 6.4.2). Elements of `elem` bytes lie in blocks of `block`
// elements that go round the threads; block 0 is an indefinite block size. What does not fit into 64 bits is
// an error, and so is a block of more elements than a phase can count.
namespace weft::detail {

inline constexpr std::size_t most_block_elems = UINT32_MAX;

// How a computation fails that the function, or operator, `call` has asked for.
[[noreturn, gnu::cold]] WEFT_EXPORT void fail_block(const char* call, std::size_t block_elems);
[[noreturn, gnu::cold]] WEFT_EXPORT void fail_size(const char* call, std::size_t elem_size);
[[noreturn, gnu::cold]] WEFT_EXPORT void fail_advance(const char* call, std::int64_t inc);
[[noreturn, gnu::cold]] WEFT_EXPORT void fail_distance(const char* call);

constexpr void require_block(const char* call, std::size_t block_elems) {
  if (block_elems > most_block_elems) [[unlikely]]
    fail_block(call, block_elems);
}

// The size of an element, as a number that offsets are divided by.
constexpr std::int64_t element_size(const char* call, std::size_t elem) {
  if (elem == 0 || elem > static_cast<std::size_t>(INT64_MAX)) [[unlikely]]
    fail_size(call, elem);
  return static_cast<std::int64_t>(elem);
}

// A signed number that knows whether it, or one that it was computed from, was too large.
class checked_int {
public:
  constexpr checked_int(std::int64_t value) : value_(value) {}
  constexpr bool fits() const { return fits_; }
  constexpr std::int64_t plain() const { return value_; }

  friend constexpr checked_int operator+(checked_int a, checked_int b) {
    a.fits_ = !__builtin_add_overflow(a.value_, b.value_, &a.value_) && a.fits_ && b.fits_;
    return a;
  }
  friend constexpr checked_int operator-(checked_int a, checked_int b) {
    a.fits_ = !__builtin_sub_overflow(a.value_, b.value_, &a.value_) && a.fits_ && b.fits_;
    return a;
  }
  friend constexpr checked_int operator*(checked_int a, checked_int b) {
    a.fits_ = !__builtin_mul_overflow(a.value_, b.value_, &a.value_) && a.fits_ && b.fits_;
    return a;
  }

private:
  std::int64_t value_;
  bool fits_ = true;
};

struct divided {
  checked_int quotient;
  std::int64_t remainder; // never negative
};

// b is positive.
constexpr divided floor_divide(checked_int a, std::int64_t b) {
  const std::int64_t q = a.plain() / b, r = a.plain() % b;
  const checked_int carried = a - a.plain(); // 0 that remembers
  return r < 0 ? divided{carried + (q - 1), r + b} : divided{carried + q, r};
}

constexpr upc_shared_ptr_t advance(const char* call, upc_shared_ptr_t p, std::size_t block, std::size_t elem,
                                   std::int64_t inc, std::int64_t threads) {
  require_block(call, block);
  const checked_int size = element_size(call, elem);
  if (block == 0) {
    const checked_int bytes = size * inc;
    if (!bytes.fits()) [[unlikely]]
      fail_advance(call, inc);
    p.addr += static_cast<std::uint64_t>(bytes.plain());
    p.phase = 0;
    return p;
  }
  const auto length = static_cast<std::int64_t>(block);
  const checked_int before = static_cast<std::int64_t>(p.phase);
  const divided phase = floor_divide(before + inc, length);
  const divided thread = floor_divide(phase.quotient + static_cast<std::int64_t>(p.thread), threads);
  const checked_int bytes = (thread.quotient * length + phase.remainder - before) * size;
  if (!bytes.fits()) [[unlikely]]
    fail_advance(call, inc);
  p.addr += static_cast<std::uint64_t>(bytes.plain());
  p.thread = static_cast<std::uint32_t>(thread.remainder);
  p.phase = static_cast<std::uint32_t>(phase.remainder);
  return p;
}

constexpr std::int64_t distance(const char* call, upc_shared_ptr_t a, upc_shared_ptr_t b, std::size_t block,
                                std::size_t elem, std::int64_t threads) {
  require_block(call, block);
  const std::int64_t elements = static_cast<std::int64_t>(a.addr - b.addr) / element_size(call, elem);
  if (block == 0) return elements;
  const checked_int phases = static_cast<std::int64_t>(a.phase) - static_cast<std::int64_t>(b.phase);
  const checked_int blocks = static_cast<std::int64_t>(a.thread) - static_cast<std::int64_t>(b.thread);
  const checked_int all = (elements - phases) * threads + blocks * static_cast<std::int64_t>(block) + phases;
  if (!all.fits()) [[unlikely]]
    fail_distance(call);
  return all.plain();
}

} // namespace weft::detail
