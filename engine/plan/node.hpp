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

// A set of nodes of one plan, a bit each. A plan has at most 64 nodes because a pattern over peers is folded
// into a loop; so an edge list is one word, and "is it ready" is one AND.
using node_set = std::uint64_t;
inline constexpr unsigned max_nodes = 64;
inline constexpr unsigned max_loops = 13;
inline constexpr unsigned max_phases = 2;
inline constexpr unsigned all_loops = max_loops + 1; // with the one of the checked mode

// What a node does: engine/operations has a file for each.
enum class kind : std::uint8_t {
  copy,
  get,
  put,
  flush,
  signal,
  await,
  take,
  claim,
  assist,
  fetch,
  discover,
  save,
  restore,
  rotate,
  compare,
  reduce,
  compute,
  choose,
  loop,
};

// What one rank knows of another. Sequence numbers and counts make them monotonic: never reset.
enum class fact : std::uint8_t {
  none,
  entry,     // the peer has posted this operation (near members: by their entry word, no node needed)
  payload,   // the peer's eager payload is in its slot
  delivered, // so many blocks (chunks, if claimed) have arrived in my destination
  consumed,  // so many blocks (chunks, if claimed) have been read from my source
  stage_in,  // dissemination round before the data; to near members: all have entered
  stage_out, // the same after the data; of a near member: its own are in place
  asked,     // the peer wants to have my row
  row,       // what a member's row in shared memory says: published for near members, sent to far ones
  named,     // it is known whose row names me
  call,      // checked mode: which call the operation is; awaited: nothing speaks against moving data
  ready,     // the near peer's destination holds what it is to hand on; the far peer's puts are in mine;
             // the root has chosen that all work together
};

enum class peer_rule : std::uint8_t {
  none,
  each,   // the loop's current peer
  ahead,  // (me + 2^k) mod size in round k
  behind, // (me - 2^k) mod size in round k
  group,  // all near members at once (a store into my own mailbox)
  self,
};

// The peers of a loop, and the blocks that a node moves at one step: see resolve.hpp.
struct range;
struct blocks;

// Which block a claim carries, seen from the node's owner.
enum class direction : std::uint8_t { in, out, self, swap };

// Steps for peers of one lane only; they are nothing for the others.
enum class lane : std::uint8_t { any, near, far };

// An operation may have two ways, of which its root chooses one when it sees whether all enter in time: all
// members work together, or the root alone. A node of the way that is not chosen is nothing.
enum class branch : std::uint8_t { either, together, alone };

// What an element of a row says of a block.
enum class descriptor : std::uint8_t { source, destination, size };

struct node {
  kind what = kind::copy;
  fact about = fact::none;
  peer_rule peer = peer_rule::none;
  direction way = direction::in;
  lane only = lane::any;
  descriptor which = descriptor::source; // fetch
  std::uint8_t body = 0;                 // loop: index of the first body node
  std::uint8_t body_size = 0;            // loop: nodes of the body, a chain run once for each peer
  std::uint8_t loop_index = 0;           // loop: which loop state of the operation is its own
  std::uint8_t phase = 0;                // whose cells of its slot it raises or awaits
  std::uint8_t ordered = 0;   // loop: so many iterations at a time, the next when these are done; 0: all
  bool searches = false;      // loop: over as soon as it is known that no rank names me
  bool valued = false;        // signal/take/await: carries the barrier value
  bool pipelined = false;     // loop: a step waits for the same step of the iteration before
  bool single = false;        // loop: no more than its one step; see prepare
  bool stepwise = false;      // counts one a step, and awaits step + 1 - count of them
  bool quick = false;         // compute: little enough for a post
  bool rewrites = false;      // compute: what others could read in my source is another thing now
  bool orders = false;        // flush: the peer need only find it in place when told next; put: one follows
  bool relayed = false;       // signal: the root's payload; engines hand it on in the tree
  bool bundled = false;       // signal, take: by way of the boxes of two hosts, see engine/bundle_box.hpp;
                              // counts: but for what came along
  branch on = branch::either; // top nodes: the way that it belongs to, also if it begins before the choice
  std::uint8_t settled = 0;   // 1 + its place in the plan's table of settled steps
  std::uint8_t needs = 0;     // the place of scratch that every peer of the range must have filled before
  operand read, write;        // from where to where
  // loop: iterations; counting signals and awaits: how many, 0 = what the rows tell; compute, get and put of
  // parts, and payloads that the task has: which stage
  std::uint32_t count = 0;
  node_set after = 0;          // nodes that must be done before this one starts
  node_set then = 0;           // nodes that wait for it; see prepare
  const range* over = nullptr; // loop; needs, of which none means all others
  const blocks* of = nullptr;  // which blocks are moved; none: the one between the two ends
};
static_assert(sizeof(node) == 64); // a line of the cache, and found by a shift

// Which bytes go from rank i to rank j: `bytes` from source offset i*src_i + j*src_j on i to destination
// offset i*dst_i + j*dst_j on j. What an operation means; its plans say the same by their places.
struct block_rule {
  std::uint64_t bytes = 0;
  std::uint64_t src_i = 0, src_j = 0;
  std::uint64_t dst_i = 0, dst_j = 0;

  std::uint64_t source(std::uint32_t i, std::uint32_t j) const { return i * src_i + j * src_j; }
  std::uint64_t destination(std::uint32_t i, std::uint32_t j) const { return i * dst_i + j * dst_j; }
};

// Whether a node brings data to its member, takes them away, or leaves them with it.
enum class flow : std::uint8_t { own, in, out };

// Which pairs (i, j) exchange a block. With the last two a member's row in shared memory names the other end:
// where its block goes, or where it comes from.
enum class pattern : std::uint8_t {
  none,
  all_pairs,
  to_later, // and to the own place: i <= j
  from_root,
  to_root,
  by_source,
  by_destination
};

// How a row names the other end: by an element of the permutation (a team rank, or a thread in 4 or 8 bytes),
// or by the thread of the block's pointer.
enum class naming : std::uint8_t { none, rank, thread, wide_thread, pointer };

} // namespace weft::graph
