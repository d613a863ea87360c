// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/task.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace weft::unequal {

// Bytes of a member, from the beginning of its segment.
struct block {
  std::uint64_t at = 0, bytes = 0;
};

// Blocks of any sizes between members, each of which knows its own: where what it gives to each lies, and
// where what it gets is to lie. Those that get bring them, but for short ones between hosts: those come along
// with the notes that say where the others are.
//
//   stage 1   for each member of another host a note that says where its block is, and how long. Behind it
//             that block itself, if it is short
//   stages 2, 5   payloads: the note to a far member; of one
//   stage 3   what a member brings
//   stages 4, 6   my own block, and what has come with notes, to their places
//   stage 7   one note for all members of my host: of my one block, or of the table of what I give
//   stage 8   the same; and how many far members are to bring a block, if what goes to each other host is
//             packed: from that note, by any member of my host
struct exchange : graph::task {
  // By rank, in my segment; or, `same` and to a root, one for all, which need not lie there.
  const block* given = nullptr;
  const block* taken = nullptr; // by rank; or of a member that gets of the root alone, one
  bool same = false, from_root = false, to_root = false;
  bool from_one = false; // what is taken is one block, of whichever member gives one
  std::uint32_t root = 0;
  bool (*usable)(const std::byte*,
                 std::uint64_t) = nullptr; // asked before something is written; null: all is
  const block* kept = nullptr;             // what is released
  void (*release_blocks)(const block*) = nullptr;

  bool gives_one() const { return same || to_root; }
  const block* given_to(std::uint32_t member, std::uint32_t me) const {
    if (from_root && me != root) return nullptr;
    if (to_root && member != root) return nullptr;
    return given + (same ? 0 : member);
  }
  const block* taken_of(std::uint32_t member, std::uint32_t me) const {
    if (from_root) return member == root ? taken : nullptr;
    if (to_root && me != root) return nullptr;
    return taken + (from_one ? 0 : member);
  }
};
static_assert(std::is_trivially_copyable_v<exchange>);

// A note as it stands in tables and messages.
struct note {
  static constexpr std::uint64_t along = ~std::uint64_t{0};        // at: the block came along
  static constexpr std::uint64_t in_table = ~std::uint64_t{0} - 1; // bytes: look it up where `at` says
  std::uint64_t at = 0, bytes = 0;
};

// Bytes of a note with its block, at most: as many as an eager payload may have, and less in large teams,
// whose members have a table of all notes that they send and one of all that come.
constexpr std::uint64_t longest_note(std::uint64_t members) {
  constexpr std::uint64_t most = 2048, least = 64, table = 256 * 1024;
  return std::clamp(table / members / 16 * 16, least, most);
}

// What a member has for another host, packed: its bytes (4 of them), an entry of 4 for each of the members
// there, or one for all, and what they say. So many bytes have room for a note of each, at least.
constexpr std::uint64_t least_packed(std::uint64_t entries) {
  return 4 + entries * (4 + sizeof(note));
}

// Sets what follows from the rest.
void prepare(exchange& b);

} // namespace weft::unequal
