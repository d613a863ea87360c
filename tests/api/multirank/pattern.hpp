// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <weft/weft.hpp>

// Bytes that tell from which thread, for which block and in which round they come, and a destination that
// notices every byte that is missing or too much.
namespace pattern {

inline unsigned char at(unsigned round, std::size_t thread, std::size_t block, std::size_t byte) {
  const std::size_t x = (round * 131 + thread) * 1009 + block * 97 + byte;
  return static_cast<unsigned char>(x ^ (x >> 8) ^ (x >> 16));
}

inline void fill(unsigned char* to, std::size_t bytes, unsigned round, std::size_t thread,
                 std::size_t block) {
  for (std::size_t i = 0; i != bytes; ++i)
    to[i] = at(round, thread, block, i);
}

// The index of the first byte that differs, or `bytes`.
inline std::size_t mismatch(const unsigned char* from, std::size_t bytes, unsigned round, std::size_t thread,
                            std::size_t block) {
  std::size_t i = 0;
  while (i != bytes && from[i] == at(round, thread, block, i))
    ++i;
  return i;
}

// Symmetric memory of so many bytes on every thread, with a margin that no thread may write.
class area {
public:
  explicit area(std::size_t bytes)
      : bytes_(bytes), memory_(upc_all_alloc(static_cast<std::size_t>(THREADS), bytes + margin)) {
    std::memset(local() + bytes_, canary, margin);
  }
  area(const area&) = delete;
  area& operator=(const area&) = delete;
  ~area() {
    for (std::size_t i = 0; i != margin; ++i)
      EXPECT_EQ(local()[bytes_ + i], canary) << "written behind the end, byte " << i;
    upc_all_free(memory_);
  }

  upc_shared_ptr_t shared() const { return memory_; }
  upc_shared_ptr_t on(std::size_t thread) const {
    return {memory_.addr, static_cast<std::uint32_t>(thread), 0};
  }
  unsigned char* local() const {
    return static_cast<unsigned char*>(upc_cast(on(static_cast<std::size_t>(MYTHREAD))));
  }
  std::size_t bytes() const { return bytes_; }

private:
  static constexpr std::size_t margin = 64;
  static constexpr unsigned char canary = 0x5a;
  std::size_t bytes_;
  upc_shared_ptr_t memory_;
};

} // namespace pattern
