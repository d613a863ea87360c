// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/call.hpp"

#include <cstdint>
#include <vector>

// The arrays of pointers, sizes and thread numbers of a call, as bytes in shared memory.
namespace calls {

struct row {
  std::uint64_t offset;
  std::vector<std::uint8_t> bytes;
};

// The elements that lie on a thread, and plausible ones in their stead that lead into the trap. The arena
// begins at the address `base` on every thread.
std::vector<row> rows_of(const call& c, const members& team, std::uint32_t thread, std::uint64_t base);
std::vector<row> poisoned_rows_of(const call& c, const members& team, std::uint32_t thread,
                                  std::uint64_t base);

} // namespace calls
