// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstdint>

namespace weft::graph {

// Memory that a node reads or writes. A member has one of each for an operation.
enum class buffer : std::uint8_t {
  none,
  source, // the call's two arguments, in its segment
  destination,
  scratch, // its own, for what is on its way through it
  mailbox, // where its eager payload lies, to be taken by others
};

// The blocks that a node moves at one step.
enum class blocks : std::uint8_t {
  one,        // the one between the two ends
  readers,    // one for each other member on my host
  ring,       // that of the step-th member in ring order, counted from the first of my host
  rest,       // the same, counted from the first member behind my host
  known,      // dissemination: those of the hosts whose blocks the sender has and the receiver has not
  of_host,    // those of all members of the host that is written to
  half,       // doubling: those of the 2^step places that share all higher bits with my host's
  other_half, // those of the 2^step places that share them with my host's partner
  outgoing,   // of the member that is read, to my twins
  incoming,   // those of the members of all other hosts, to me
  members,    // those of all members
  twins,      // that of the member that is read from, and those of its twins
  travelling, // those on their way over a distance, in hosts, that has this step's digit
  leaving,    // of the member that is read, to all members of the hosts to which I lead
  crossing,   // those of all members of the sender's host to all of the receiver's
  arriving,   // those of all members of the hosts to which I lead, to who is written
  own_host,   // those of all members of my host
  beside,     // those of all members of the host that makes a pair with mine before a doubling
  gathered,   // what has come together at the sender when it sends it on to the root, see doubling
  to_host,    // of the member that is read, to all members of the host that is written to
};

// What the offset of a block depends on. Ranks of the team.
struct coordinates {
  std::uint32_t from = 0, to = 0; // whose memory is read, and whose is written
  std::uint32_t step = 0;         // of the loop
  // Whose block it is, if neither end's; travelling: its number in the order of distances; crossing: the
  // number of the pair of hosts.
  std::uint32_t owner = 0;
  std::uint32_t turn = 0; // its number among those of the step
};

// An address or a size that is no argument of the call stands in shared memory: in a row, the elements of an
// array that lie on one end of the block. There is one element, or one for each thread of the job, of which
// that of the block's other end or the member's own is meant.
enum class found : std::uint8_t { by_rule, at_source, at_destination };
enum class column : std::uint8_t { only, other, own };
struct row_element {
  found where = found::by_rule;
  column which = column::only;
  explicit operator bool() const { return where != found::by_rule; }
  bool operator==(const row_element&) const = default;
};

// Where a block lies in a buffer, and how much of it: linear in its coordinates, so that one entry of a
// plan's table serves all of them. Nothing here is an address: a plan serves every pair of buffers.
struct place {
  std::uint64_t base = 0;
  std::uint64_t from = 0, to = 0, step = 0, owner = 0, turn = 0; // bytes for one more of each
  std::uint64_t bytes = 0;
  std::uint64_t end = 0;         // 0, or where the last step's bytes end
  row_element pointer{}, size{}; // instead, if they say where

  [[gnu::always_inline]] std::uint64_t offset(const coordinates& c) const {
    return base + c.from * from + c.to * to + c.step * step + c.owner * owner + c.turn * turn;
  }
  // Of one that is the same in every step.
  bool is_steady() const { return (step | owner | end) == 0; }
  std::uint64_t offset(std::uint32_t i, std::uint32_t j) const { return base + i * from + j * to; }
  [[gnu::always_inline]] std::uint64_t length(const coordinates& c) const {
    if (end == 0) return bytes;
    const std::uint64_t at = offset(c);
    return at < end ? std::min(bytes, end - at) : 0;
  }
  bool operator==(const place&) const = default;
};

// What a node reads or writes: a buffer, and an entry of the plan's table.
struct operand {
  buffer in = buffer::none;
  std::uint8_t at = 0;
};
// The first entries of every table.
inline constexpr std::uint8_t in_source = 0, in_destination = 1, in_mailbox = 2;
inline constexpr unsigned max_places = 10;

} // namespace weft::graph
