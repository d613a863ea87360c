// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/cost.hpp"
#include "engine/collectives/request.hpp"
#include "engine/plan/builder.hpp"
#include "engine/topology/topology.hpp"

namespace weft::collectives {

// Sizes that all members must agree on; rank 0 publishes them at boot and their hash is compared.
struct tuning {
  std::uint32_t eager_bytes = 2048;      // room for eager payload in a slot
  std::uint32_t far_payload = 2048;      // the same of one that goes to another host, as its network likes it
  bool far_push = false;                 // large blocks are put there, else got from there
  std::uint64_t whole_block = 16 * 1024; // blocks up to this size are claimed in one piece
  std::uint64_t window = 64;             // far transfers of one rank under way in one operation, at most 64
  cost_table costs;
  forced_choice forced{}; // algorithms that the user asked for
  bool check = false;     // members compare their calls
  bool relays = true;     // every rank hears messages, and answers them, whatever its application is about
  bool bundles = false;   // mailboxes have boxes behind them, see engine/bundle_box.hpp
};

// Moves one block for every pair of a pattern, directly from its source to its destination.
//
// Steps and bytes (P members, n bytes a block, all pairs):
//   eager     one hop: n*(P-1) copied into the sender's own slot (near readers take their slices from there),
//             n sent to each far reader; n*(P-1) copied out. No token, no acknowledgement.
//   direct    near: entry word, one copy of n for each pair carried by either end (or, under OUT_ALL,
//             by any rank on the host), two counts.
//             far: entry token, one get (or put) of n, one count; or, up to far_payload, a message with the
//             block, which waits for its reader in a place of its mailbox: one hop instead of three.
// With a radix, a far payload goes to the members of the hosts below in a tree over the hosts, and the
// engines of those hand it on (see progress/execution/relays.hpp): for an eager block of a root. With
// indirect operands the rule only says which bytes are distinct; never eager, the destination pulls.
graph::plan relocate(const request& r, graph::pattern pairs, const graph::block_rule& rule,
                     const graph::topology& g, const tuning& t, const graph::indirection& indirect = {},
                     std::uint32_t radix = 0);

// The same with the blocks between two hosts in bundles, by way of their boxes: a member that has the turn on
// a host sends to each other host what the members that have entered have for it, in one message. Under IN_NO
// a host asks instead, once, and the engine of the other one sends what all of its members have. See
// progress/execution/bundles.hpp. One hop, or two, and a copy out of the box.
graph::plan relocate_bundled(const request& r, graph::pattern pairs, const graph::block_rule& rule,
                             const graph::topology& g, const tuning& t);
// Is there a box on each host for each other one, and does each rank hear messages?
bool has_boxes(const graph::topology& g, const tuning& t);
// Until the owner of a box has been woken, if none of its threads drives, in ns: what a wake takes on a
// virtual machine. Of rooted operations the other members of the root's host may have left; where each member
// waits for blocks of its own, the owner is awake when all come together.
inline constexpr std::uint64_t wake = 20'000;
bool fits_bundled(const request& r, bool one_slice, const graph::topology& g, const tuning& t);
std::uint64_t cost_of_bundled(const request& r, bool one_slice, const graph::topology& g, const tuning& t);

// The largest payload of a message between hosts of which so many members may each send some ahead of one:
// the memory for all of them is bounded.
std::uint64_t payload_from(std::uint64_t senders, const tuning& t);
// The same of a block that travels with its signal, in a team of this size.
std::uint64_t far_payload(const tuning& t, const graph::topology& g);

// Do a flat plan's blocks travel with their signals, one hop each? Under IN_NO a reader need not wait for the
// owner of the block: there it gets it.
bool sent_ahead(const request& r, const graph::topology& g, const tuning& t);

// Do the blocks of a flat plan travel as eager payloads, which only the engines of their two ends touch? Then
// the operands may lie outside of the segment. Of those operations whose blocks lie side by side; not in
// checked mode, which looks at memory before it is written.
bool travels_as_payloads(const request& r, const graph::topology& g, const tuning& t);

// Steps that bring what a far peer's rows say of the block that comes from it (or goes to it).
void fetch_rows(graph::builder::step_list& steps, const graph::indirection& of, graph::direction way);

// Pieces of a block of the rule's size, or a fixed number if the size is only found later.
void cut_blocks(graph::plan& p, const tuning& t);

} // namespace weft::collectives
