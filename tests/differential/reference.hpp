#pragma once
#include "tests/differential/call.hpp"

#include <cstdint>
#include <vector>

// What the texts say that a call does, one block after the other: the answer that the library is compared
// with.
namespace differential {

struct copy {
  std::uint32_t from_thread;
  std::uint64_t from;
  std::uint32_t to_thread;
  std::uint64_t to;
  std::uint64_t bytes;
};

// The copies of a call on the `team` among `threads` threads. All read what was there before the first of
// them, and no two write the same byte.
std::vector<copy> copies_of(const call& c, const members& team, std::uint32_t threads);

} // namespace differential
