// SPDX-License-Identifier: BSD-3-Clause
#include "engine/memory/copy.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace weft::engine {

namespace {

constexpr std::uint64_t line = 64;
constexpr std::uint64_t page = 4096;

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

} // namespace

void copy_large(void* target, const void* source, std::uint64_t bytes) {
  auto* const to = static_cast<std::byte*>(target);
  auto* const from = static_cast<const std::byte*>(source);
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

} // namespace weft::engine
