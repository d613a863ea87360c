// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <cstring>

namespace weft::engine {

inline constexpr std::uint64_t large_copy = 32 * 1024;
void copy_large(void* to, const void* from, std::uint64_t bytes);

// Copies between two places that do not overlap, one of which another core has just written or read. Small
// copies are memcpy, a single word is not even a call. Large ones run page by page, with the lines of the
// next page fetched meanwhile (the destination's for writing), so that the transfers of the lines between the
// cores overlap. Streaming stores are not used: the reader is about to need the data.
inline void copy_bytes(void* to, const void* from, std::uint64_t bytes) {
  if (bytes == sizeof(std::uint64_t))
    std::memcpy(to, from, sizeof(std::uint64_t));
  else if (bytes >= large_copy)
    copy_large(to, from, bytes);
  else if (bytes != 0)
    std::memcpy(to, from, bytes);
}

} // namespace weft::engine
