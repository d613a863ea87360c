// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "verify/effects.hpp"
#include "verify/messages.hpp"
#include "verify/signals.hpp"

#include <array>
#include <vector>

namespace weft::graph::checking {

// Unfolds one member's plan after the other into events. What a step means its kind says (engine/operations);
// what it may say stands here.
class unfolding {
public:
  unfolding(event_graph& g, report& out);
  void run();

  std::uint32_t me() const { return me_; }
  std::uint32_t peer_of(event_id e) const { return graph_.events[e].peer; }

  // Blocks are moved, as they are resolved; returns how many regions.
  template <class Kind> std::size_t moves(const node& n, event_id e);
  // Something was done with the peer of the iteration that a flush or an announcement is about.
  void did(const node& n, event_id e, std::uint32_t access = no_rank);
  // Puts are ordered before what the peer is told next.
  void orders(const node& n, event_id e);
  // One half of a move by way of a bounce buffer; returns the access.
  std::uint32_t bounces(event_id e, bool reads, bool writes);
  void may_carry(event_id e, std::uint32_t source, std::uint32_t destination);
  event_id assists(event_id e);
  event_id combines_host(event_id e);
  void needs(const node& n, event_id e);
  // The sources of all members of my host, into my scratch.
  void reads_host(const node& n, event_id e);
  void rewrites(event_id e) { graph_.rewrites.push_back(e); }

  void sends(const node& n, event_id e);
  void receives(const node& n, event_id e);

  // Of operations whose rows name the other end of a block, or say where it lies.
  void needs_row(event_id e, direction way);
  void fetches(const node& n, event_id e);
  void discovers(event_id e);
  void reads_own_row(event_id e) { read_row(e, me_); }
  void publishes_named(const node& n, event_id e);
  void receives_naming(event_id e);
  void receives_what_rows_say(const node& n, event_id e);
  void receives_what_goes_out(event_id e);
  event_id rotates(const node& n, event_id e);

private:
  event_id step(std::uint8_t index, std::uint32_t peer, std::uint32_t iteration);
  event_id join();
  void order(event_id from, event_id to) { graph_.edges.push_back({from, to}); }
  void member(std::uint32_t r);
  bool happens_at_post(const node& n) const;
  event_id single(const node& n);
  event_id loop(const node& n);
  event_id groups(const node& loop, event_id begin);
  event_id moved_window(event_id gone, event_id oldest);
  event_id loop_begin(const node& n);
  event_id iteration(const node& loop, std::uint32_t k, event_id previous);
  event_id search(const node& loop, event_id begin);
  event_id perform(const node& n, event_id e, bool at_once);
  std::uint32_t partner(const node& loop, std::uint32_t k) const;
  std::uint32_t peer(const node& loop, const node& it, std::uint32_t k) const;
  void check_payload(const node& n, event_id e, const action& a);
  void check_message(const node& n, event_id e, const action& a);
  void check_room(event_id e, std::uint8_t phase, std::uint64_t needed);

  std::uint32_t naming(std::uint32_t member) const;
  bool tells_me(std::uint32_t naming) const;
  bool has_rotation() const;
  std::vector<std::uint32_t> cycle_of(std::uint32_t member) const;
  std::uint32_t outgoing() const;
  std::uint32_t told_by_rows() const;
  void read_row(event_id e, std::uint32_t owner);
  void need_publications(event_id e);
  bool publishes_row(std::uint32_t owner) const;
  void sent_as_published(event_id e);

  event_graph& graph_;
  report& out_;
  messages contents_;
  signal_board signals_;
  effects effects_;
  std::uint32_t me_ = 0;
  const plan* plan_ = nullptr;
  const topology* place_ = nullptr;
  std::uint8_t top_ = 0;
  node_set at_post_ = 0; // top nodes that are done when the post is
  bool at_once_ = false; // the step waits for the entry alone
  // Whose rows the search looks at; check_rows has seen that it comes first.
  std::vector<std::uint32_t> looked_at_;
  bool rotated_ = false;                   // my cycle is rotated as a whole
  std::uint32_t with_ = no_rank;           // the peer of the iteration
  event_id landing_ = no_event;            // of the signal that is to follow in this iteration
  event_id landed_before_ = no_event;      // of the iteration before
  std::uint32_t fetched_ = 0;              // operands that the iteration has fetched
  std::array<event_id, max_nodes> last_{}; // of a pipeline: each step of the iteration before
  std::array<event_id, max_nodes> ends_{}; // of top nodes
};

} // namespace weft::graph::checking
