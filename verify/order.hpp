// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "verify/events.hpp"

namespace weft::graph::checking {

// Edges grouped by one of their ends.
class adjacency {
public:
  enum class end : std::uint8_t { from, to };
  adjacency(const event_graph& g, end by);
  std::span<const event_id> of(event_id e) const {
    return std::span(neighbours_).subspan(first_[e], first_[e + 1] - first_[e]);
  }

private:
  std::vector<std::uint32_t> first_;
  std::vector<event_id> neighbours_;
};

// A symbolic run: every event happens once what it needs has happened; for blocks and arrivals that is any of
// several. An `any` event waits as long as something else can still happen, so that as many as possible of
// its predecessors have happened before it.
class symbolic_run {
public:
  // Events in `dead` never happen; empty means none.
  symbolic_run(const event_graph& g, const adjacency& after, const adjacency& before, std::vector<bool> dead);

  const std::vector<event_id>& order() const { return order_; }
  bool happened(event_id e) const { return happened_[e]; }
  bool complete() const;
  // Did all predecessors of this event happen before it?
  bool saw_all(event_id e) const { return saw_all_[e]; }

  // Does a come before b, whatever happens? Behind an `any` event only what comes before all that may cause
  // it. A walk over the whole run, for the rare case that asks.
  bool precedes(event_id a, event_id b) const { return behind(a)[b]; }
  // All that comes behind it, and itself.
  std::vector<bool> behind(event_id a) const;

  // Members that wait for each other.
  void report_cycles(report& out) const;
  // Down to the event that nothing leads to: "a: waits for b: waits for c".
  std::string why(event_id stuck) const;

private:
  void happen(event_id e);
  event_id blocker(event_id stuck) const;

  const event_graph& graph_;
  const adjacency& after_;
  const adjacency& before_;
  std::vector<bool> dead_;
  std::vector<std::uint32_t> missing_;
  std::vector<bool> happened_, saw_all_;
  std::vector<event_id> order_, touched_;
};

} // namespace weft::graph::checking
