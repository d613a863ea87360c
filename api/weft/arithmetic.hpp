#pragma once
#include "types.h"

#include <cstddef>
#include <cstdint>

// The arithmetic of pointers-to-shared (UPC 1.3, 6.4.2). Elements of `elem` bytes lie in blocks of `block`
// elements that go round the threads; block 0 is an indefinite block size. No argument is checked.
namespace weft::detail {

struct divided {
  std::int64_t quotient, remainder; // the remainder is never negative
};

constexpr divided floor_divide(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b, r = a % b;
  return r < 0 ? divided{q - 1, r + b} : divided{q, r};
}

constexpr upc_shared_ptr_t advance(upc_shared_ptr_t p, std::size_t block, std::size_t elem, std::int64_t inc,
                                   std::int64_t threads) {
  const auto size = static_cast<std::int64_t>(elem);
  if (block == 0) {
    p.addr += static_cast<std::uint64_t>(inc * size);
    p.phase = 0;
    return p;
  }
  const auto length = static_cast<std::int64_t>(block);
  const divided phase = floor_divide(static_cast<std::int64_t>(p.phase) + inc, length);
  const divided thread = floor_divide(static_cast<std::int64_t>(p.thread) + phase.quotient, threads);
  const std::int64_t elements =
      phase.remainder - static_cast<std::int64_t>(p.phase) + thread.quotient * length;
  p.addr += static_cast<std::uint64_t>(elements * size);
  p.thread = static_cast<std::uint32_t>(thread.remainder);
  p.phase = static_cast<std::uint32_t>(phase.remainder);
  return p;
}

constexpr std::int64_t distance(upc_shared_ptr_t a, upc_shared_ptr_t b, std::size_t block, std::size_t elem,
                                std::int64_t threads) {
  const std::int64_t elements = static_cast<std::int64_t>(a.addr - b.addr) / static_cast<std::int64_t>(elem);
  if (block == 0) return elements;
  const std::int64_t phases = static_cast<std::int64_t>(a.phase) - static_cast<std::int64_t>(b.phase);
  const std::int64_t blocks = static_cast<std::int64_t>(a.thread) - static_cast<std::int64_t>(b.thread);
  return (elements - phases) * threads + blocks * static_cast<std::int64_t>(block) + phases;
}

} // namespace weft::detail
