#include "tests/modes/arena.hpp"

#include <algorithm>

namespace modes {
namespace {

constexpr std::size_t line = 64;

std::uint64_t first_word(const trial& t, content what, int rank, int block) {
  std::uint64_t x = t.number * 0x9e3779b97f4a7c15ULL;
  x ^= (static_cast<std::uint64_t>(what) << 40 | static_cast<std::uint64_t>(rank) << 20 |
        static_cast<std::uint64_t>(block)) *
       0xbf58476d1ce4e5b9ULL;
  return (x ^ (x >> 31)) * 0x94d049bb133111ebULL;
}
constexpr std::uint64_t step = 0x2545f4914f6cdd1dULL;

} // namespace

arena::arena(std::size_t largest_block) {
  const std::size_t blocks = (largest_block + line) * threads();
  source_ = (threads() * (2 * sizeof(upc_shared_ptr_t) + sizeof(std::size_t)) + 2 * line) / line * line;
  destination_ = source_ + blocks;
  aside_ = destination_ + blocks + margin;
  trap_ = aside_ + 2 * threads() * bounce_bytes;
  memory_ = upc_all_alloc(threads(), trap_ + largest_block);
}

upc_shared_ptr_t arena::permutation(int rank) const {
  return at(threads() * (2 * sizeof(upc_shared_ptr_t) + sizeof(std::size_t)), rank);
}

upc_shared_ptr_t arena::source(const trial& t, int rank) const {
  return t.what.in_place ? destination(rank) : at(source_, rank);
}

void fill(std::byte* to, std::size_t bytes, const trial& t, content what, int rank, int block) {
  const std::uint64_t first = first_word(t, what, rank, block);
  for (std::size_t i = 0; i < bytes / sizeof first; ++i) {
    const std::uint64_t word = first + i * step;
    std::memcpy(to + i * sizeof word, &word, sizeof word);
  }
}

bool holds(const std::byte* at, std::size_t bytes, const trial& t, content what, int rank, int block) {
  const std::uint64_t first = first_word(t, what, rank, block);
  std::uint64_t different = 0;
  for (std::size_t i = 0; i < bytes / sizeof first; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, at + i * sizeof word, sizeof word);
    different |= word ^ (first + i * step);
  }
  return different == 0;
}

} // namespace modes
