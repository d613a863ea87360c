// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/memory/mailbox.hpp"
#include "engine/memory/ring_list.hpp"

#include <atomic>
#include <cstdint>

namespace weft::engine {

// How a rank's segment begins; the same on every rank, so that an offset means the same everywhere:
//   segment_header | mailbox of the team of all | shared heap
struct segment_header {
  alignas(64) std::atomic<std::uint32_t> sleeping; // this rank's process sleeps and wants to be rung
  alignas(64) std::atomic<std::uint32_t> sleepers; // on the host's first rank: how many of the host sleep
  ring_list waits_for;                             // what this rank waits for while it is away
};

inline constexpr std::uint64_t first_mailbox_offset = (sizeof(segment_header) + 63) / 64 * 64;

// `locals`: members of the largest host.
inline std::uint64_t heap_offset(std::uint32_t locals) {
  constexpr std::uint64_t page = 4096;
  return (first_mailbox_offset + mailbox::bytes(locals) + page - 1) / page * page;
}

} // namespace weft::engine
