// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/memory/mailbox.hpp"

#include <array>

namespace weft::engine {

// What a rank waits for that is away: its threads compute, or sleep, and steps are left that no other rank
// can do for it. A store into shared memory wakes no process. So the rank lists the words of its host that
// these steps wait for, and another rank that finds them come rings it. A rank looks when it waits itself and
// has nothing to do, and before it sleeps: so a store costs nothing more, and a rank that is away is woken
// for what it can do and not for every store.
//
// The list has groups. The rank can go on when all words of one group have come to their values; all words
// only grow. The owner writes the list, under progress ownership.
//
//   owner                                       another rank of the host
//     state = {version + 1, 0 entries}            state: no entries? nothing to do
//     entries                                     all words of a group have come?
//     state = {version + 1, n entries}            state changes from what was seen to 0 entries? ring
//
// Entries are read between two loads of a state that are equal, so they belong together. The change of the
// state decides which of several ranks rings; a rank that has been rung sweeps everything and lists anew. If
// the owner adds entries at that moment its state stands: the rank is rung once more than needed.
//
// Orders. Loads acquire and stores release. No ring is missed: the owner lists, fences and looks once more at
// the words. Another rank looks again and again as long as it is awake, and once behind its own fence before
// it sleeps or leaves. The fence that comes second sees what the other rank has stored.
struct ring_list {
  static constexpr std::uint32_t most = 254, count_bits = 8;
  struct entry {
    word where; // see place
    word value;
  };
  alignas(64) word state;
  alignas(64) std::array<entry, most> entries;

  // {rank of the job whose segment it lies in:20, offset in words:43, the last of its group:1}
  struct place {
    std::uint32_t rank = 0;
    std::uint64_t offset = 0; // bytes
    bool last = false;

    static constexpr unsigned offset_bits = 43;
    std::uint64_t packed() const {
      return std::uint64_t{rank} << (offset_bits + 1) | offset / sizeof(word) << 1 | std::uint64_t{last};
    }
    static place of(std::uint64_t packed) {
      constexpr std::uint64_t mask = (std::uint64_t{1} << offset_bits) - 1;
      return {static_cast<std::uint32_t>(packed >> (offset_bits + 1)), (packed >> 1 & mask) * sizeof(word),
              (packed & 1) != 0};
    }
  };
  static std::uint32_t count_in(std::uint64_t state) { return state & ((1u << count_bits) - 1); }
};

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
