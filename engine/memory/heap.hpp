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
  // The beginning of the block that holds this byte; 0 if none does.
  std::uint64_t block_of(std::uint64_t offset) const;
  bool contains(std::uint64_t offset) const { return offset >= begin_ && offset < end_; }
  std::uint64_t largest() const; // the largest request that would succeed

private:
  std::uint64_t begin_, end_;
  std::map<std::uint64_t, std::uint64_t> free_; // offset -> bytes
  std::map<std::uint64_t, std::uint64_t> used_;
};

} // namespace weft::engine
