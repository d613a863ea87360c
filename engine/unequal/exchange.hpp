// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/task.hpp"
#include "engine/topology/topology.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace weft::unequal {

// Bytes of a member, from the beginning of its segment.
struct block {
  std::uint64_t at = 0, bytes = 0;
};

// Blocks of any sizes between members, each of which knows its own: where what it gives to each lies, and
// where what it gets is to lie. Those that get bring them, but for short ones: those come along with the
// notes that say where the others are.
//
//   stage 1   for each member of another host a note that says where its block is, and how long. Behind it
//             that block itself, if it is short
//   stages 2, 5   payloads: the note to a far member; of one
//   stage 3   what a member brings
//   stages 4, 6   my own block, and what has come with notes, to their places
//   stages 7, 8   my note: of my one block, or of the table of what I give. Behind stage 8 any member of my
//             host packs, from that note, what goes to another host
//
// Members of my host get that note in a payload, and packed behind it what is for each of them, if there is
// room for a note to each. Stages 1 and 8 note how many far members are to bring a block, and the payload how
// many near ones are.
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

// Bytes of a note with its block, at most: as many as the way to another host likes to have with a signal,
// and less in large teams, whose members have a table of all notes that they send and one of all that come.
// A table is a little longer than a power of two, so that a block of one fits in behind its note.
constexpr std::uint64_t longest_note(std::uint64_t members, std::uint64_t payload) {
  constexpr std::uint64_t least = 64, table = 264 * 1024;
  return std::clamp(table / members / 16 * 16, least, payload);
}

// Where a payload lies in a mailbox depends on its length, and the two ends of a block may say different
// ones. But all of this length and longer ones begin in the body: so no message with a note is shorter, and
// what the giver says is always found.
constexpr std::uint64_t shortest_message = 64;
constexpr std::uint64_t message_of_note(std::uint64_t along) {
  return std::max<std::uint64_t>(shortest_message, sizeof(note) + along);
}

// What a member has for a host, packed: its bytes (4 of them), an entry of 4 for each of the members there,
// or one for all, and what they say. So many bytes have room for a note of each, at least.
constexpr std::uint64_t least_packed(std::uint64_t entries) {
  return 4 + entries * (4 + sizeof(note));
}
// Room for what is for my own host: behind the note in an eager payload. A block comes along in any case if
// it fits into an equal share of it.
constexpr std::uint64_t near_room = 2032;
constexpr bool comes_along(std::uint64_t bytes, std::uint64_t entries) {
  return least_packed(entries) <= near_room && bytes <= (near_room - 4 - entries * 4) / entries;
}

// Of the blocks that a member has for another host, all go along if they have so much room together. If not,
// those do that fit into an equal share of it, and of the others, in their order, those for which they leave
// room. Asked once about each block, in order.
class along_blocks {
public:
  // `room` has a note for each, at least.
  template <class BytesOf>
  constexpr along_blocks(std::uint64_t room, std::uint32_t entries, BytesOf&& bytes_of)
      : longest_(room / entries) {
    std::uint64_t all = 0, most = 0, used = 0;
    for (std::uint32_t k = 0; k != entries; ++k) {
      const std::uint64_t bytes = bytes_of(k);
      all += std::min(bytes, room + 1);
      most = std::max(most, bytes);
      used += bytes <= longest_ ? bytes : sizeof(note);
    }
    all_ = all <= room;
    if (all_)
      longest_ = most;
    else
      left_ = room - used;
  }
  constexpr bool have_room() const { return all_; } // all of them
  constexpr bool has(std::uint64_t bytes) {
    if (bytes <= longest_) return true;
    if (bytes - sizeof(note) > left_) return false;
    left_ -= bytes - sizeof(note);
    return true;
  }

private:
  std::uint64_t longest_, left_ = 0;
  bool all_ = false;
};

// Sets what follows from the rest.
void prepare(exchange& b);

// What a member has written down of its block for another one: in its segment, at this place. Where that
// cannot be, the member's operation has failed, and its table is no more: nothing.
inline block entry_of(const graph::work& w, std::uint32_t member, std::uint64_t table,
                      std::uint32_t receiver) {
  const std::uint64_t at = table + receiver * sizeof(block);
  block b;
  if (table > w.segment_bytes || at + sizeof b > w.segment_bytes) return b;
  const std::byte* const memory = member == w.me ? w.segment : w.near(w.threads[member]);
  std::memcpy(&b, memory + at, sizeof b);
  if (b.at > w.segment_bytes || b.bytes > w.segment_bytes - b.at) b = {};
  return b;
}

// An entry says where in the packed bytes its block lies, or a note of one that the receiver brings.
struct entry {
  static constexpr std::uint16_t of_note = std::numeric_limits<std::uint16_t>::max();
  std::uint16_t at = 0, bytes = 0;
};
static_assert(sizeof(entry) == 4);

// The blocks of a member of my host for those of another one, in a message, or for its neighbours. Which go
// along (along_blocks) follows from their sizes alone: so the member knows which ones are left to be brought,
// whichever member packs them.
class packed_blocks {
public:
  packed_blocks(const exchange& b, const graph::work& w, std::uint32_t member, const note& published)
      : b_(b), w_(w), member_(member), published_(published) {}

  // 0 if there is none for that host, or no room for so many.
  std::uint64_t write(std::uint32_t host, std::byte* to) const {
    if (!goes_to(host) || !fits(host)) return 0;
    const std::uint32_t entries = entries_of(host);
    along_blocks short_ones = along(host);
    const std::byte* const memory = member_ == w_.me ? w_.segment : w_.near(w_.threads[member_]);
    std::uint64_t next = front(entries);
    for (std::uint32_t k = 0; k != entries; ++k) {
      const block b = block_of(host, k);
      const bool along = short_ones.has(b.bytes);
      const entry e{static_cast<std::uint16_t>(next),
                    along ? static_cast<std::uint16_t>(b.bytes) : entry::of_note};
      std::memcpy(to + front(k), &e, sizeof e);
      const note n{b.at, b.bytes};
      if (along)
        std::memcpy(to + next, memory + b.at, b.bytes);
      else
        std::memcpy(to + next, &n, sizeof n);
      next += along ? b.bytes : sizeof n;
    }
    const auto all = static_cast<std::uint32_t>(next);
    std::memcpy(to, &all, sizeof all);
    return next;
  }
  // How many members of a host bring one.
  std::uint64_t left_to_readers(std::uint32_t host) const {
    if (!goes_to(host)) return 0;
    const bool one = b_.gives_one();
    const std::uint64_t readers = b_.to_root ? 1 : w_.where->members(host) - (is_mine(host) ? 1 : 0);
    if (!fits(host)) return readers;
    along_blocks short_ones = along(host);
    std::uint64_t left = 0;
    for (std::uint32_t k = 0; k != entries_of(host) && !short_ones.have_room(); ++k)
      if (!short_ones.has(block_of(host, k).bytes)) left += one ? readers : 1;
    return left;
  }

private:
  static std::uint64_t front(std::uint64_t entries) {
    return sizeof(std::uint32_t) + entries * sizeof(entry);
  }
  bool is_mine(std::uint32_t host) const { return host == w_.where->host(w_.me); }
  bool goes_to(std::uint32_t host) const { return !b_.to_root || host == w_.where->host(b_.root); }
  std::uint64_t room(std::uint32_t host) const { return is_mine(host) ? near_room : w_.message; }
  bool fits(std::uint32_t host) const { return least_packed(entries_of(host)) <= room(host); }
  std::uint32_t entries_of(std::uint32_t host) const { return b_.gives_one() ? 1 : w_.where->members(host); }
  // None for the member itself.
  block block_of(std::uint32_t host, std::uint32_t k) const {
    if (b_.gives_one()) return {published_.at, published_.bytes};
    const graph::topology& g = *w_.where;
    const std::uint32_t receiver = g.in_host_order(g.first(host) + k);
    if (receiver == member_) return {};
    return member_ == w_.me ? b_.given[receiver] : entry_of(w_, member_, published_.at, receiver);
  }
  along_blocks along(std::uint32_t host) const {
    const std::uint32_t entries = entries_of(host);
    return {room(host) - front(entries), entries, [&](std::uint32_t k) { return block_of(host, k).bytes; }};
  }

  const exchange& b_;
  const graph::work& w_;
  std::uint32_t member_;
  note published_;
};

// What they say of one: it came along, with its bytes, or where it is. What cannot be so came along, and no
// block has its size.
struct packed_entry {
  note what{note::along, note::in_table};
  std::span<const std::byte> bytes;
};
inline packed_entry read_packed(std::span<const std::byte> packed, std::uint32_t number) {
  packed_entry p;
  const std::uint64_t place = sizeof(std::uint32_t) + number * sizeof(entry);
  entry e;
  if (place + sizeof e > packed.size()) return p;
  std::memcpy(&e, packed.data() + place, sizeof e);
  const bool noted = e.bytes == entry::of_note;
  const std::uint64_t bytes = noted ? sizeof(note) : e.bytes;
  if (e.at + bytes > packed.size()) return p;
  if (noted) {
    std::memcpy(&p.what, packed.data() + e.at, sizeof p.what);
  } else {
    p.what.bytes = bytes;
    p.bytes = packed.subspan(e.at, bytes);
  }
  return p;
}

} // namespace weft::unequal
