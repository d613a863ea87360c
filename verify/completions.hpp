// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "verify/order.hpp"

#include <bitset>

namespace weft::graph::checking {

// At which events it is known that an access is complete. Along the run such knowledge flows from an event to
// those that come after it: joined where an event waits for all before it, and only what is common where any
// of them may have caused it.
//
// It is done for a group of accesses at a time, and only the events that it reaches are looked at: the memory
// is that of a group's reach, and accesses that belong together (those of one member) reach the same events.
class completion_flow {
public:
  static constexpr std::size_t at_once = 1024;

  completion_flow(const event_graph& g, const adjacency& after, const adjacency& before,
                  const symbolic_run& run);

  // From now on it is about these accesses, at most `at_once`.
  void follow(std::span<const std::uint32_t> accesses);

  using set = std::bitset<at_once>;
  // The k-th bit is that of the k-th access.
  const set& complete(event_id at) const {
    static const set none;
    return place_of_[at] == nowhere ? none : reached_[place_of_[at]].complete;
  }

private:
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
  struct reached {
    event_id event;
    std::uint32_t told_by = 0; // edges that something came along
    set complete;
  };
  struct source {
    std::uint32_t position; // in the run
    std::uint32_t access;   // its number in the group
  };

  void number_completions();
  void forget();
  reached& reach(event_id e);
  void pass(std::uint32_t position);
  void tell(const set& complete, event_id to);

  const event_graph& graph_;
  const adjacency& after_;
  const adjacency& before_;
  const symbolic_run& run_;
  std::vector<std::uint32_t> position_; // of an event in the run
  std::vector<std::uint32_t> first_;    // of an access's completions
  std::vector<event_id> when_;
  std::vector<source> sources_; // of the group, in the order of the run
  std::size_t next_source_ = 0;
  std::vector<std::uint64_t> due_; // a bit for each position: reached, and not yet passed
  std::vector<std::uint32_t> place_of_;
  std::vector<reached> reached_;
};

} // namespace weft::graph::checking
