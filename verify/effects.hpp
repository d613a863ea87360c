// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "verify/events.hpp"

#include <array>
#include <vector>

namespace weft::graph::checking {

// What a member does with one peer, as far as announcements and flushes are concerned.
struct effect {
  event_id when;
  kind what;
  fact about;
  std::uint32_t access;
  bool to_self = false;
  event_id in_place = no_event; // of a flush: when the puts before it are; no_event: when it is done
};

// The effects of one member after the other: puts are flushed, and announced when they are in place.
class effects {
public:
  effects(event_graph& g, report& out) : graph_(g), out_(out), with_peer_(g.members()) {}

  void of_member(std::uint32_t member);
  // Its top nodes, in their order.
  void top_node(std::uint8_t n);
  // Does one top node come before the other, directly or not?
  bool before(unsigned first, unsigned second) const { return (before_[second] >> first & 1) != 0; }

  void with(std::uint32_t peer, const effect& d) { with_peer_[peer].push_back(d); }
  void check();

  // Within the member: does a come before b in every run?
  bool precedes(event_id a, event_id b) const;

private:
  bool near(std::uint32_t peer) const { return graph_.places[me_].is_near(peer); }
  void check_flush(std::uint32_t peer, const effect& put);
  void split(const effect& put);
  void check_announcement(std::uint32_t peer, const effect& signal);
  bool flushed_between(std::uint32_t peer, event_id put, event_id signal) const;

  event_graph& graph_;
  report& out_;
  std::uint32_t me_ = 0;
  std::array<node_set, max_nodes> before_{}; // top nodes that precede a top node
  std::vector<std::vector<effect>> with_peer_;
};

} // namespace weft::graph::checking
