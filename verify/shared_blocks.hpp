// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "verify/counts.hpp"

#include <span>
#include <utility>
#include <vector>

namespace weft::graph::checking {

struct block_ends {
  std::uint32_t source, destination;
};

// Blocks that any of several members may carry, by claims. One event for each: it is in place when one of its
// carriers has come, and all of them must be allowed to.
class shared_blocks {
public:
  shared_blocks(event_graph& g, counts& counted, report& out);

  void claim(event_id e, std::uint32_t source, std::uint32_t destination);
  // Blocks that are carried as one, those from the lowest member first; returns the event of their being in
  // place.
  event_id together(event_id e, std::span<const block_ends> all);
  // Returns the event of seeing every destination full.
  event_id assist(event_id e);

  // When all carriers are known: what they count, and then the rank that waits until all is carried.
  void feed_counters();
  void match_assists();

private:
  bool near(std::uint32_t a, std::uint32_t b) const { return graph_.places[a].is_near(b); }
  std::uint32_t block(std::uint32_t source, std::uint32_t destination);
  std::uint32_t access_of(event_id when, std::uint32_t source, std::uint32_t destination);
  void check_carried(event_id e, std::uint32_t which);
  void add_helpers();

  event_graph& graph_;
  counts& counts_;
  report& out_;
  std::vector<std::uint32_t> blocks_;                  // by pair: the access
  std::vector<std::uint32_t> together_;                // by lowest member: the first access
  std::vector<std::pair<event_id, event_id>> assists_; // begin and end
};

} // namespace weft::graph::checking
