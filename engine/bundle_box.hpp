// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/memory/mailbox.hpp"
#include "engine/topology/topology.hpp"

#include <algorithm>
#include <cstdint>

namespace weft::engine {

// What two hosts of a team have for the small blocks that go between them together: a box on each, behind the
// mailbox of the member that leads towards the other host (topology/topology.hpp). All members of the
// host read and write it in place. Words as in mailbox.hpp: none is ever reset.
//
//   turn      on the host's first member, one for each slot: 1 while a member sends for its host
//             writers: members of the host, by CAS from 0, and the one that has it by a store of 0
//   sent      for each slot and member of this host: the last operation of which its blocks for the other
//   host
//             are in a message, so that its source has been read     writer: the turn's holder
//   stamp     for each slot and member of the other host: the last operation of which its blocks are here
//             writer: the owner of the box
//   asked     for each slot: the last operation of which the other host was asked for all its blocks, under
//             IN_NO                 writers: members of this host, by CAS; what could not be asked is put
//             back
//   retired   all members of the other host have retired the operations up to it
//             writers: the owner, and members that have asked all of them, by CAS
//   blocks    for each slot: those of the other host's members, one member behind the other, valid when the
//             stamp of their member says so                          writer: the owner of the box
//
//   large     places for what has no room in a slot: the same, of the operations that have one or two places
//             in turn. Blocks of unequal sizes, of which each member has told its neighbours only where it
//             has written them down; and longer ones of exchanges and gather-alls. Those of a host are
//             dealt out to the members of this one in turn: so each holds a share, however few hosts there
//             are
//
// Memory. A member reserves at most 4 MiB for the large places of all its boxes, less in teams of less than
// 1,024; among so many ranks that 24 bytes for each block take more, as much as those. It takes the pages
// that are written: where one operation brings a host so many bytes from other hosts, 8 times as many at
// most.
//
// Credit. The blocks of operation n lie where those of operation n - 32 lay: they are sent when all members
// of the receiving host have retired that one, and asked for when they have. `sent` needs none: a member that
// has retired operation n - 32 over there had the blocks of all that it gets blocks of. In a large place they
// lie where those of the last operation before lay that had it, of those that have large places: no nearer
// than the fourth before. Their stamps are those of the slot, so that is waited for as well.
class bundle_box {
public:
  static constexpr std::uint32_t large_places = mailbox::large_places;
  static constexpr std::uint32_t most_places = 2; // of one operation
  static constexpr std::uint64_t most_of_message = 65536;

  // How the blocks of the other host's members lie: as many bytes of each member in the slot; unequal ones in
  // the slot, in parts for each member, or all for one member; or in parts for each in a large place; as many
  // bytes of each member in large places.
  enum class layout : std::uint8_t { equal, of_each, of_one, large, large_equal };
  static constexpr bool is_equal(layout l) { return l == layout::equal || l == layout::large_equal; }
  static constexpr bool has_places(layout l) { return l == layout::large || l == layout::large_equal; }
  // Room for the blocks of a slot between two hosts: 8 bytes for each pair of members, within bounds.
  static std::uint64_t room(const graph::topology& g) {
    const std::uint64_t locals = g.largest_host();
    if (locals == 1) return 0;
    return std::clamp<std::uint64_t>(locals * locals * 8, 2048, most_of_message) / mailbox::line *
           mailbox::line;
  }
  // Of a member's unequal blocks, with the places of each in them. In a large place 1 KiB for each block,
  // as far as the memory for them allows, and 24 in any case; more between few members.
  static std::uint64_t part_room(const graph::topology& g, layout l) {
    const std::uint64_t locals = g.largest_host();
    if (l == layout::of_one) return std::min(room(g), most_of_message - 8);
    if (l == layout::of_each) return room(g) / locals / 8 * 8;
    const std::uint64_t least = std::max(locals * 24, 2048 / locals);
    const std::uint64_t parts = std::max<std::uint64_t>(1, held_parts(g)) * large_places;
    const std::uint64_t wanted = std::min(locals * 1024, reserved(g) / parts);
    return std::min(std::max(least, wanted), most_of_message - 8) / 8 * 8;
  }
  // How many large places a part of so many bytes takes.
  static std::uint64_t places(const graph::topology& g, std::uint64_t part) {
    const std::uint64_t place = part_room(g, layout::large);
    return (part + place - 1) / place;
  }
  // The longest message has the parts of all members, if it can.
  static std::uint64_t message_room(const graph::topology& g) {
    const std::uint64_t parts = g.largest_host() * part_room(g, layout::large);
    return std::max(room(g), std::min(parts, most_of_message));
  }
  // How many take the parts of so many members.
  static std::uint64_t messages(const graph::topology& g, std::uint64_t members, std::uint64_t part) {
    const std::uint64_t of_one = std::max<std::uint64_t>(1, message_room(g) / part);
    return (members + of_one - 1) / of_one;
  }
  // Of the boxes of one member at most; none on one host, nor where each host has one member, which sends
  // alone.
  static std::uint64_t bytes(const graph::topology& g) {
    if (g.one_host() || room(g) == 0) return 0;
    return large_offset(g) + held_parts(g) * large_places * part_room(g, layout::large);
  }
  // What must be zero before the first operation.
  static void clear(std::byte* base, const graph::topology& g) {
    if (bytes(g) == 0) return;
    std::memset(base, 0, turns_bytes);
    for (std::uint32_t k = 0; k < graph::most_led(g); ++k)
      std::memset(base + turns_bytes + k * box_bytes(g), 0, words_bytes(g));
  }

  // `base`: where the boxes of the member that leads there begin; `other` is a host.
  bundle_box(std::byte* base, const graph::topology& g, std::uint32_t host, std::uint32_t other)
      : words_(reinterpret_cast<word*>(base + turns_bytes +
                                       graph::number_of_pair(g, host, other) * box_bytes(g))),
        blocks_(reinterpret_cast<std::byte*>(words_) + words_bytes(g)), locals_(g.largest_host()),
        room_(room(g)) {}

  static word& turn(std::byte* first_members, std::uint32_t slot) {
    return reinterpret_cast<word*>(first_members)[slot];
  }
  word& retired() const { return words_[0]; }
  word& sent(std::uint32_t slot, std::uint32_t local) const {
    return words_[first_word + slot * locals_ + local];
  }
  word& stamp(std::uint32_t slot, std::uint32_t local) const {
    return words_[first_word + (slots + slot) * locals_ + local];
  }
  word& asked(std::uint32_t slot) const { return words_[first_word + 2 * slots * locals_ + slot]; }
  std::byte* blocks(std::uint32_t slot) const { return blocks_ + slot * room_; }
  // Those of a member; `bytes` of each in an equal layout, else there is room for so many.
  std::byte* part(layout l, std::uint32_t slot, std::uint32_t local, std::uint64_t bytes) const {
    return blocks(slot) + (l == layout::of_one ? 0 : local * bytes);
  }
  // Where the part of a member of another host begins in this large place. `base` is of the member of my host
  // that holds it: large_holder.
  static std::byte* large_part(std::byte* base, const graph::topology& g, std::uint32_t member,
                               std::uint32_t place) {
    const std::uint64_t hosts = g.hosts(), distance = (g.host(member) + hosts - g.host(g.me())) % hosts;
    const std::uint64_t held = (distance - 1) * rows(g) + g.local_index(member) / g.locals();
    return base + large_offset(g) + (held * large_places + place) * part_room(g, layout::large);
  }
  static std::uint32_t large_holder(const graph::topology& g, std::uint32_t member) {
    return g.local(g.local_index(member) % g.locals());
  }

private:
  // Addresses of a member for the large places of all its boxes, but for the least: teams that share their
  // members with no other one have no more together than one of all.
  static std::uint64_t reserved(const graph::topology& g) {
    return std::min<std::uint64_t>(g.size() * std::uint64_t{4096}, std::uint64_t{4} << 20);
  }
  static constexpr std::uint64_t first_word = mailbox::line / sizeof(word);
  static constexpr std::uint64_t turns_bytes = slots * sizeof(word);

  static std::uint64_t words_bytes(const graph::topology& g) {
    const std::uint64_t words = first_word + 2u * slots * g.largest_host() + slots;
    return (words * sizeof(word) + mailbox::line - 1) / mailbox::line * mailbox::line;
  }
  static std::uint64_t box_bytes(const graph::topology& g) { return words_bytes(g) + slots * room(g); }
  // Of the members of each other host one holds as many parts at most.
  static std::uint64_t rows(const graph::topology& g) {
    return (g.largest_host() + g.smallest_host() - 1) / g.smallest_host();
  }
  static std::uint64_t held_parts(const graph::topology& g) { return (g.hosts() - 1) * rows(g); }
  static std::uint64_t large_offset(const graph::topology& g) {
    return turns_bytes + graph::most_led(g) * box_bytes(g);
  }

  word* words_;
  std::byte* blocks_;
  std::uint32_t locals_;
  std::uint64_t room_;
};

// The mailbox of a member and its boxes; where the boxes begin.
inline std::uint64_t boxes_offset(const graph::topology& g) {
  return mailbox::bytes(g.largest_host());
}
inline std::uint64_t mailbox_bytes(const graph::topology& g) {
  return boxes_offset(g) + bundle_box::bytes(g);
}

} // namespace weft::engine
