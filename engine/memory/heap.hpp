// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <map>

namespace weft::engine {

// Hands out ranges of [begin, end): first fit, neighbours joined when freed. Offsets only, it touches no
// memory; 0 is never handed out. Not thread-safe.
class heap {
public:
  static constexpr std::uint64_t alignment = 64;

  heap(std::uint64_t begin, std::uint64_t end);

  std::uint64_t allocate(std::uint64_t bytes); // 0 = no room; std::bad_alloc leaves the books as they were
  bool free(std::uint64_t offset) noexcept;    // false = not (or no longer) allocated
  struct block {
    std::uint64_t begin = 0, bytes = 0; // as many as were asked for
  };
  // The last block that begins at this byte or before it, wherever it ends; {0, 0} if none does.
  block block_below(std::uint64_t offset) const;
  // The beginning of the block that holds this byte; 0 if none does.
  std::uint64_t block_of(std::uint64_t offset) const;
  bool contains(std::uint64_t offset) const { return offset >= begin_ && offset < end_; }
  std::uint64_t largest() const; // the largest request that would succeed

private:
  static std::uint64_t whole(std::uint64_t bytes); // what is taken for so many

  std::uint64_t begin_, end_;
  std::map<std::uint64_t, std::uint64_t> free_; // offset -> bytes
  std::map<std::uint64_t, std::uint64_t> used_; // offset -> bytes asked for
};

} // namespace weft::engine
