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

// What the offset of a block depends on. Ranks of the team.
struct coordinates {
  std::uint32_t from = 0, to = 0; // whose memory is read, and whose is written
  std::uint32_t step = 0;         // of the loop
  std::uint32_t owner = 0; // whose block it is, if neither end's; or what the selection of blocks counts
  std::uint32_t turn = 0;  // its number among those of the step
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
