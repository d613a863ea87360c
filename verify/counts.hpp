// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/resolve.hpp"
#include "verify/events.hpp"

#include <vector>

namespace weft::graph::checking {

// The counters in the members' mailboxes: what raises them, by nodes and by claimed blocks, and the rank that
// waits for how much. First all that raises is noted, then what waits is matched.
class counts {
public:
  counts(event_graph& g, report& out);

  void raise(const node& n, const cell& c, event_id e);
  void carried(fact which, std::uint32_t owner, std::uint32_t pieces, event_id when);

  // `by_rows`: the count is what the rows say.
  void await(event_id e, const cell& c, bool by_rows);
  // In steps: so many have been counted, if one sender counts them in order.
  void await_step(event_id e, const cell& c);
  // `end` sees all of them; complaints are about `begin`.
  void await_full(event_id begin, event_id end, fact which, std::uint32_t owner, std::uint32_t wanted);
  // What no rank awaits, and what its owner may leave behind.
  void find_unread();

  // What waits for something that never comes.
  void hang(event_id e);

private:
  struct counter {
    event_id reached = no_event;
    std::uint64_t signalled = 0; // by counting signals
    std::uint64_t carried = 0;   // by claimed blocks
    bool read = false;
    bool reported = false;
    event_id watched = no_event; // by another rank than its owner
    std::uint64_t owner_saw = 0; // what its owner awaits
    std::vector<event_id> fed_by;
  };
  counter& at(fact which, std::uint32_t owner, std::uint32_t phase = 0) {
    return (which == fact::delivered ? delivered_ : consumed_)[std::size_t{phase} * graph_.members() + owner];
  }
  event_id reached(counter& c, fact which, std::uint32_t owner);
  bool in_order(const counter& c, std::uint32_t steps) const;

  event_graph& graph_;
  report& out_;
  std::vector<counter> delivered_, consumed_; // by phase and owner
  event_id never_ = no_event;
};

} // namespace weft::graph::checking
