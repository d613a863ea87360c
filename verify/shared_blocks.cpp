// SPDX-License-Identifier: BSD-3-Clause
#include "verify/shared_blocks.hpp"

namespace weft::graph::checking {

shared_blocks::shared_blocks(event_graph& g, counts& counted, report& out)
    : graph_(g), counts_(counted), out_(out), blocks_(std::size_t{g.members()} * g.members(), no_rank),
      together_(g.members(), no_rank) {}

std::uint32_t shared_blocks::block(std::uint32_t source, std::uint32_t destination) {
  std::uint32_t& known = blocks_[std::size_t{source} * graph_.members() + destination];
  if (known != no_rank) return known;
  const event_id when = graph_.add(role::block, source, destination);
  known = access_of(when, source, destination);
  if (graph_.plans[destination].in_place) access_of(when, destination, source); // they change places at once
  return known;
}

std::uint32_t shared_blocks::access_of(event_id when, std::uint32_t source, std::uint32_t destination) {
  const auto id = static_cast<std::uint32_t>(graph_.accesses.size());
  const plan& p = graph_.plans[destination];
  graph_.accesses.push_back({when, no_rank, source, destination,
                             p.places[in_source].offset(source, destination),
                             p.places[in_destination].offset(source, destination), p.block(), true, true});
  graph_.completions.push_back({when, id});
  return id;
}

void shared_blocks::claim(event_id e, std::uint32_t source, std::uint32_t destination) {
  const event& at = graph_.events[e];
  if (!near(source, destination)) {
    out_.add(fault::malformed, "{}: rank {} is on another host", graph_.text(e), at.peer);
  }
  // A row that names another rank leaves nothing to do.
  const plan& mine = graph_.plans[at.member];
  if (mine.names != naming::none && !graph_.moved.sends(source, destination)) return;
  const std::uint32_t id = block(source, destination);
  check_carried(e, id);
  if (mine.in_place) check_carried(e, id + 1);
  graph_.edges.push_back({e, graph_.accesses[id].begin});
  graph_.carriers.push_back({e, source, destination});
}

void shared_blocks::check_carried(event_id e, std::uint32_t which) {
  const access& a = graph_.accesses[which];
  const plan& mine = graph_.plans[graph_.events[e].member];
  if (mine.places[in_source].offset(a.source, a.destination) == a.from &&
      mine.places[in_destination].offset(a.source, a.destination) == a.to && mine.block() == a.bytes)
    return;
  out_.add(fault::wrong_provenance, "{}: carries other bytes of block {}->{} than its destination does",
           graph_.text(e), a.source, a.destination);
}

// As the two of a pair that change places.
event_id shared_blocks::together(event_id e, std::span<const block_ends> all) {
  std::uint32_t& first = together_[all.front().source];
  if (first == no_rank) {
    const event_id when = graph_.add(role::block, all.front().source, all.front().destination);
    first = static_cast<std::uint32_t>(graph_.accesses.size());
    for (const block_ends& b : all)
      access_of(when, b.source, b.destination);
  }
  for (std::uint32_t k = 0; k < all.size(); ++k) {
    check_carried(e, first + k);
    graph_.carriers.push_back({e, all[k].source, all[k].destination});
  }
  const event_id when = graph_.accesses[first].begin;
  graph_.edges.push_back({e, when});
  return when;
}

event_id shared_blocks::assist(event_id e) {
  assists_.emplace_back(e, graph_.add(role::assisted, graph_.events[e].member));
  graph_.events[assists_.back().second].top = graph_.events[e].top;
  graph_.edges.push_back({e, assists_.back().second});
  return assists_.back().second;
}

// Any rank that assists may carry any block of the operation: one event for all of them, a carrier of every
// block.
void shared_blocks::add_helpers() {
  if (assists_.empty()) return;
  const std::uint32_t first = graph_.events[assists_.front().first].member;
  const event_id helpers = graph_.add(role::helpers, first);
  for (const auto& [begin, end] : assists_)
    graph_.edges.push_back({begin, helpers});
  const plan& p = graph_.plans[first];
  for (std::uint32_t i = 0; i < graph_.members(); ++i) {
    for (std::uint32_t j = 0; j < graph_.members(); ++j) {
      const bool sent = p.names == naming::none ? p.sends(i, j) : graph_.moved.sends(i, j);
      if (!sent || (p.in_place && i >= j)) continue; // in place a pair is carried at once
      const std::uint32_t id = block(i, j);
      graph_.edges.push_back({helpers, graph_.accesses[id].begin});
    }
  }
}

void shared_blocks::feed_counters() {
  add_helpers();
  for (const std::uint32_t id : blocks_) {
    if (id == no_rank) continue;
    const access& a = graph_.accesses[id];
    const plan& p = graph_.plans[a.destination];
    counts_.carried(fact::delivered, a.destination, p.chunks, a.begin);
    // In place both are destinations, and what is read is what is written.
    if (p.counts_consumed(a.source, a.destination))
      counts_.carried(p.in_place ? fact::delivered : fact::consumed, a.source, p.chunks, a.begin);
  }
}

void shared_blocks::match_assists() {
  for (const auto& [begin, end] : assists_) {
    const plan& p = graph_.plans[graph_.events[begin].member];
    for (std::uint32_t j = 0; j < graph_.members(); ++j) {
      if (p.names == naming::none) {
        counts_.await_full(begin, end, fact::delivered, j, p.full(j));
        continue;
      }
      const bool empty = graph_.moved.named_by(j) == no_rank;
      counts_.await_full(begin, end, p.pairs == pattern::by_source ? fact::consumed : fact::delivered, j,
                         empty ? 0 : p.chunks);
      if (empty && p.in == sync::my) graph_.edges.push_back({graph_.posts[j], end}); // its row says so
    }
  }
}

} // namespace weft::graph::checking
