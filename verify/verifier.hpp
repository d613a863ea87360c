// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/plan.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace weft::graph {

// What can be wrong with the plans of one operation.
enum class fault : std::uint8_t {
  malformed,        // a plan breaks its own bounds: indices, edges, operands, transfers in flight
  mismatch,         // two members' plans are not of one operation
  missing_signal,   // a rank awaits what no rank sends
  surplus_signal,   // sent twice, or to no rank that reads it
  wrong_count,      // a counter is awaited at another total than the one that it reaches
  cycle,            // members wait for each other for ever
  written_twice,    // a destination byte has two writers
  never_written,    // a destination byte has none
  written_outside,  // a byte is written that the operation does not name
  wrong_provenance, // a destination byte comes from another place than the operation says
  race,             // two conflicting accesses are not ordered
  late_entry,       // a far member's entry becomes known by a message that waits, a near one's to no sleeper
  early_access,     // data are touched before the entries that the IN mode demands are known
  early_exit,       // a member may leave before what the OUT mode demands
  early_signal,     // a signal announces what is not done yet
  missing_flush,    // a put to another host is announced, or left behind, before it is in place
  missing_row,      // a far member's row is used that was neither sent nor fetched
  not_independent,  // a member waits for one that posted and went away
};

struct finding {
  fault what;
  std::string text; // one line: ranks, nodes, bytes
};

struct verdict {
  std::vector<finding> findings;

  bool ok() const { return findings.empty(); }
  bool has(fault what) const;
  std::string text() const; // a line for each finding
};

// What an operation is to move: for every pair (i, j) of the pattern the block that the rule names. Where the
// operands lie in shared memory the rule is nominal: blocks of one byte at different places.
struct movement {
  static constexpr std::uint32_t no_rank = ~std::uint32_t{0};

  pattern pairs = pattern::none;
  block_rule rule;
  std::uint32_t root = 0;
  std::vector<std::uint32_t> names{}; // by_source, by_destination: which one each member's row names
  bool in_place = false;              // source and destination are one buffer

  std::uint32_t named_by(std::uint32_t member) const {
    return member < names.size() ? names[member] : no_rank;
  }
  bool sends(std::uint32_t i, std::uint32_t j) const;
};

// Called now and then while it lasts: so many of all accesses are followed.
using on_progress = std::function<void(std::size_t done, std::size_t all)>;

// Checks the plans of all members of one operation, plans[r] being member r's, against each other, without
// running them. host_of_rank[r] is the node that member r lives on.
//
// The plans are unfolded into events (a step for one peer; entry and exit of a member; a claimed block; a
// counter reaching its total), joined by "happens before". Along this order it is computed what each event
// knows: whose entry, and which accesses are complete. From that:
//   - each rank finishes, and every await has exactly its signals;
//   - every destination byte is written once, from the right place, and nothing else is;
//   - conflicting accesses are ordered, and a signal comes after what it announces;
//   - no rank touches data before the IN mode's facts, and no rank leaves before the OUT mode's.
// A claimed block knows only what all its possible carriers know, and each of these must be allowed to carry
// it on its own. Source and destination are two buffers, or in place one, of which nothing may be overwritten
// that is still to be read; eager slots are scratch and not subject to the modes. Rows are data of their
// owners; the published copy of a row is not.
//
// Intervals are compared, never bytes: the cost depends on the members (their square), not on the block size.
// What events know is computed for some members, or some accesses, at a time: sets for all at once would grow
// with the fourth power of the members.
verdict verify(std::span<const plan> plans, const std::vector<std::uint32_t>& host_of_rank,
               const movement& expected, const on_progress& progress = {});

// The same, the movement being what member 0's plan says, which knows nothing of rows.
verdict verify(std::span<const plan> plans, const std::vector<std::uint32_t>& host_of_rank);

// Do all others complete if the members in `absent` post the operation and then run no code any more? What
// happens within a post has happened: the entry word, and publishing a payload that waits for nothing.
verdict verify_independence(std::span<const plan> plans, const std::vector<std::uint32_t>& host_of_rank,
                            const std::vector<std::uint32_t>& absent);
verdict verify_independence(std::span<const plan> plans, const std::vector<std::uint32_t>& host_of_rank,
                            const std::vector<std::uint32_t>& absent, const movement& expected);

// Do all others complete if the members in `absent` post the operation, and of what comes behind their posts
// run only what they are rung for (plan::alone)?
verdict verify_rung(std::span<const plan> plans, const std::vector<std::uint32_t>& host_of_rank,
                    const std::vector<std::uint32_t>& absent, const movement& expected);

} // namespace weft::graph
