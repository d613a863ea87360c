// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/call.hpp"

#include <cstdint>
#include <vector>

// What the texts say that a call does, one block after the other: the answer that the library is compared
// with.
namespace calls {

struct block {
  std::uint32_t thread;
  std::uint64_t offset, bytes;
  std::vector<std::byte> value; // of a computation
};

// A block that arrives somewhere: what was elsewhere before, or what was computed.
struct arrival : block {
  std::uint32_t from_thread;
  std::uint64_t from;
};

// All arrivals are of what was there before the first of them, and no two write the same byte.
struct effects {
  std::vector<block> sources; // none twice
  std::vector<arrival> arrivals;
};

// Of a call on the `team` among `threads` threads.
effects effects_of(const call& c, const members& team, std::uint32_t threads);

} // namespace calls
