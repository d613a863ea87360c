// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/node.hpp"
#include "engine/plan/task.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace weft::graph {

enum class sync : std::uint8_t { no, my, all };
enum class hint : std::uint8_t { none, push, pull };

// Where the data of one call lie: bytes from the beginning of a segment, the same on every member. A plan
// names them, it never contains them. For the operations with indirect operands dst and src are arrays of
// pointers, and sizes and perm arrays, in shared memory too.
struct binding {
  std::uint64_t dst = 0, src = 0, sizes = 0, perm = 0;
  const graph::task* task = nullptr; // what its members compute
  std::uint32_t from = 0;            // checked mode: where the call stands, see engine::call_place

  bool operator==(const binding&) const = default;
};

// To send a message over a socket takes as long as to send so many bytes more with it.
inline constexpr std::uint64_t message_worth = 12 * 1024;

// The operands of the block between two members that stand in rows.
struct indirection {
  row_element src, dst, size;

  bool by_own_ends() const {
    return src.where == found::at_source && dst.where == found::at_destination && !size;
  }
  explicit operator bool() const { return src || dst || size; }
  bool operator==(const indirection&) const = default;
};

// In front of an eager payload, if a row names the member that it is for.
inline constexpr std::uint32_t name_bytes = 8;

// Bytes that lie together where they are read and where they are written.
struct region {
  std::uint64_t read = 0, write = 0, bytes = 0;
};
// What a step moves, if that is one region and the same in every execution.
struct settled_step {
  region moved;
  std::uint64_t payload = 0; // take: bytes of the payload that it takes its part of
};
inline constexpr unsigned max_settled = 4;
// One step of a plan that is straight, see operations/finish.cpp.
struct straight_step {
  std::uint8_t node = 0; // whose step it is: a top node, or the body of a loop
  std::uint8_t top = 0;
  std::uint8_t iteration = 0;
  bool last = true; // the top node is done behind it
  std::uint32_t peer = 0;
};
inline constexpr unsigned max_straight = 8;

// The program of one collective on one rank: a DAG of nodes, address-free and immutable, shared by all its
// executions. `top` are the nodes that the executor schedules; the rest are bodies of loops.
struct plan {
  std::uint8_t size = 0;
  std::uint8_t loops = 0;
  node_set top = 0;
  node_set first = 0; // top nodes that wait for no other

  // Where blocks lie; the first three are the block between two members in the source and the destination,
  // and the eager payload's in the mailbox.
  std::array<place, max_places> places{};
  std::uint8_t place_count = in_mailbox + 1;
  bool by_rows = false; // some operand stands in a row
  bool dynamic = false; // an execution must read in shared memory what it moves, and needs room for it
  bool steady = false;  // no place depends on the step, or on whose block it is
  pattern pairs = pattern::none;
  sync in = sync::all;
  sync out = sync::all;

  std::uint32_t me = 0;
  std::uint32_t members = 1;
  std::uint32_t root = 0;

  std::uint64_t chunk = 0;  // claimed blocks are cut into pieces of this many bytes
  std::uint32_t chunks = 0; // pieces of one block
  std::array<std::uint32_t, max_phases> eager_bytes{}; // of the payload that I publish to near members
  naming names = naming::none;
  bool in_place = false; // all_pairs: the blocks i -> j and j -> i change places; by_source: they move on
  std::uint64_t whole_block = 0; // indirect: blocks up to this size are claimed in one piece
  std::uint32_t radix = 0;       // of the tree over leaders, of the rounds, or pairs of members; 0 = none
  std::uint64_t scratch = 0;     // bytes of it that nodes address
  std::uint64_t packed = 0;      // bytes of the longest message whose blocks do not lie together
  std::uint8_t window = 64;      // iterations of a loop that may be under way, at most 64
  std::uint8_t credit = 32;      // how many operations its payloads may be ahead of their readers
  bool eager = false;
  bool valued = false;    // a barrier: payloads carry its value
  bool far = false;       // some node needs the UCP lane
  bool large = false;     // a task touches more memory than a pass may
  bool parts = false;     // its transfers are parts of a task, and need the task's room
  bool computes = false;  // it has a task: any rank that waits cannot carry its blocks for others
  bool awaited = true;    // a rank may sleep until I have entered
  bool unequal = false;   // what comes along with notes and what is brought the task knows, see task::brought
  bool in_places = false; // and lies in large places of boxes, be it unequal or not
  bool together = false;  // what its host's members send goes in one message, for those that have entered
  // How long the root waits for all to enter before it works alone, in ns; 0: it has no choice.
  std::uint64_t patience = 0;

  // See operations/finish.cpp.
  bool prompt = false; // what it does for others needs no rank that drives behind a post
  node_set alone = 0;  // top nodes that come to what this rank alone can do for others

  // See operations/finish.cpp.
  std::array<settled_step, max_settled> settled{};
  std::uint8_t settled_count = 0;
  std::uint8_t straight_count = 0; // 0: it is not straight
  std::uint8_t straight_posted = 0;
  std::array<straight_step, max_straight> straight{};

  // The last, for few of them are used: an execution reads the lines up to there.
  std::array<node, max_nodes> nodes{};

  // The operands of a block that stand in rows.
  indirection indirect() const {
    return {places[in_source].pointer, places[in_destination].pointer, places[in_source].size};
  }
  void find(const indirection& rows) {
    places[in_source].pointer = rows.src;
    places[in_destination].pointer = rows.dst;
    places[in_source].size = places[in_destination].size = rows.size;
  }
  // Bytes of the block between two members; nominal where its size stands in rows.
  std::uint64_t block() const { return places[in_source].bytes; }
  // Bytes that an execution needs besides: scratch, and room for a message behind it.
  std::uint64_t room() const { return scratch + packed; }
  bool rooted_by_rows() const { return names == naming::pointer; }
  // Blocks that their members have not come to carry are carried by any rank that waits, or is about to
  // leave: under OUT_ALL a node of the plan sees to it.
  bool lends() const {
    return out == sync::my && chunks != 0 && members > 1 && !eager && !far && !computes && !rotates();
  }
  // A permutation in place of which whole cycles are rotated at once. Under IN_MY a cycle would wait for all
  // of its members; there each block moves on as soon as the next one has gone.
  bool rotates() const { return in_place && names != naming::none && !rooted_by_rows() && in != sync::my; }

  // Whether a block goes from i to j, as far as that does not stand in rows.
  bool sends(std::uint32_t i, std::uint32_t j) const {
    switch (pairs) {
    case pattern::all_pairs:
      return true;
    case pattern::to_later:
      return i <= j;
    case pattern::from_root:
      return i == root;
    case pattern::to_root:
      return j == root;
    case pattern::by_source:
    case pattern::by_destination:
    case pattern::none:
      break;
    }
    return false;
  }
  // Whether the source of a claimed block hears of it too: where it stays, its destination's count says it
  // all.
  bool counts_consumed(std::uint32_t i, std::uint32_t j) const { return i != j || names != naming::none; }
  // Pieces that fill the destination of rank j once every block is claimed, its own included.
  std::uint32_t full(std::uint32_t j) const {
    switch (pairs) {
    case pattern::all_pairs:
      return in_place ? (members - 1) * chunks : members * chunks;
    case pattern::from_root:
      return chunks;
    case pattern::to_root:
      return j == root ? members * chunks : 0;
    case pattern::to_later:
    case pattern::by_source:
    case pattern::by_destination:
    case pattern::none:
      break;
    }
    return 0;
  }
};

[[gnu::always_inline]] inline std::uint64_t length_of(const plan& p, const node& n, const coordinates& c) {
  return p.places[n.read.in == buffer::mailbox ? n.write.at : n.read.at].length(c);
}

// Small pieces share the work evenly, large ones keep the copy fast: 128*sqrt(bytes) is the measured optimum
// (32 KiB at 64 KiB, 64 KiB at 256 KiB, 256 KiB at 4 MiB). Blocks of up to `whole` bytes are one piece. A
// piece is what something small may have to wait for, so none is larger than it has to be.
inline constexpr std::uint64_t largest_chunk = 256 * 1024, most_chunks = 4096;
inline std::uint64_t chunk_size(std::uint64_t bytes, std::uint64_t whole) {
  if (bytes <= whole) return bytes;
  const std::uint64_t best = std::uint64_t{1} << ((std::bit_width(bytes - 1) + 15) / 2);
  return std::max(std::min(best, largest_chunk), std::bit_ceil((bytes + most_chunks - 1) / most_chunks));
}
// Pieces of a block whose size no rank knows when the plan is made.
inline constexpr std::uint32_t indirect_chunks = 64;
// In place, what does not lie in one host moves in pieces of this size, through a scratch of each rank.
inline constexpr std::uint64_t bounce_bytes = 64 * 1024;

} // namespace weft::graph
