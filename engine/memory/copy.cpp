#include "engine/memory/copy.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace weft::engine {

namespace {

constexpr std::uint64_t line = 64;
constexpr std::uint64_t page = 4096;
constexpr std::uint64_t large = 32 * 1024;

inline void fetch_for_read(const std::byte* at) {
  __builtin_prefetch(at, 0, 3);
}

inline void fetch_for_write(std::byte* at) {
#if defined(__x86_64__)
  asm volatile("prefetchw %0" : : "m"(*at));
#else
  __builtin_prefetch(at, 1, 3);
#endif
}

void copy_ahead(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += page) {
    const std::uint64_t now = std::min(page, bytes - at);
    const std::uint64_t next_end = std::min(at + 2 * page, bytes);
    for (std::uint64_t ahead = at + page; ahead < next_end; ahead += line) {
      fetch_for_read(from + ahead);
      fetch_for_write(to + ahead);
    }
    std::memcpy(to + at, from + at, now);
  }
}

} // namespace

void copy_bytes(void* to, const void* from, std::uint64_t bytes) {
  if (bytes == 0) return;
  if (bytes < large)
    std::memcpy(to, from, bytes);
  else
    copy_ahead(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), bytes);
}

} // namespace weft::engine
