// SPDX-License-Identifier: BSD-3-Clause
#include "verify/effects.hpp"

#include "engine/operations/all_kinds.hpp"

#include <algorithm>
#include <bit>

namespace weft::graph::checking {

void effects::of_member(std::uint32_t member) {
  me_ = member;
  for (auto& done : with_peer_)
    done.clear();
}

void effects::top_node(std::uint8_t n) {
  const node_set after = graph_.plans[me_].nodes[n].after;
  before_[n] = after;
  for (node_set rest = after; rest != 0; rest &= rest - 1)
    before_[n] |= before_[std::countr_zero(rest)];
}

void effects::check() {
  for (std::uint32_t peer = 0; peer < graph_.members(); ++peer) {
    for (const effect& d : with_peer_[peer]) {
      if (d.what == kind::put && !near(peer)) check_flush(peer, d);
      if (d.what == kind::signal) check_announcement(peer, d);
    }
  }
}

bool effects::precedes(event_id a, event_id b) const {
  const event &first = graph_.events[a], &second = graph_.events[b];
  if (first.top != second.top) return before(first.top, second.top);
  if (first.iteration == second.iteration) return first.node < second.node;
  const node& loop = graph_.plans[me_].nodes[first.top];
  if (loop.pipelined && first.node > second.node) return false;
  if (loop.ordered != 0) return first.iteration / loop.ordered < second.iteration / loop.ordered;
  return loop.pipelined && first.iteration < second.iteration;
}

// A put to another host is in place once a later flush to the same member is done. A flush that comes after
// such a one knows of it.
void effects::check_flush(std::uint32_t peer, const effect& put) {
  event_id flushed = no_event;
  for (const effect& d : with_peer_[peer]) {
    if (d.what != kind::flush || !precedes(put.when, d.when)) continue;
    if (flushed != no_event && precedes(flushed, d.when)) continue;
    flushed = d.when;
    if (put.access == no_rank) continue;
    if (d.in_place != no_event) split(put);
    graph_.completions.push_back({d.in_place == no_event ? d.when : d.in_place, put.access});
  }
  if (flushed == no_event) out_.add(fault::missing_flush, "{}: no flush follows", graph_.text(put.when));
}

// What is put has been read when the put is done, long before it is in place: two accesses.
void effects::split(const effect& put) {
  access read = graph_.accesses[put.access];
  if (!read.reads) return;
  graph_.accesses[put.access].reads = read.writes = false;
  graph_.completions.push_back({put.when, static_cast<std::uint32_t>(graph_.accesses.size())});
  graph_.accesses.push_back(read);
}

// To the peer a count of delivered announces my put, a count of taken my get; to myself it is the other way.
// That I am ready announces my puts to the peer, if there are any.
void effects::check_announcement(std::uint32_t peer, const effect& signal) {
  const kind announced = (signal.about == fact::consumed) == signal.to_self ? kind::put : kind::get;
  const auto is_put = [](const effect& d) { return d.what == kind::put; };
  if (signal.about == fact::ready && std::ranges::none_of(with_peer_[peer], is_put)) return;
  bool done = false, in_place = false;
  for (const effect& d : with_peer_[peer]) {
    const bool read = d.what == kind::get || d.what == kind::save || d.what == kind::reduce ||
                      d.what == kind::compute; // of the group
    if ((announced == kind::get ? !read : d.what != announced) || !precedes(d.when, signal.when)) continue;
    done = true;
    in_place = read || near(peer) || flushed_between(peer, d.when, signal.when);
    if (in_place) break;
  }
  if (!done) {
    out_.add(fault::early_signal, "{}: no {} comes before it", graph_.text(signal.when), name(announced));
  } else if (!in_place) {
    out_.add(fault::missing_flush, "{}: the put before it may still be under way", graph_.text(signal.when));
  }
}

bool effects::flushed_between(std::uint32_t peer, event_id put, event_id signal) const {
  for (const effect& d : with_peer_[peer]) {
    if (d.what == kind::flush && precedes(put, d.when) && precedes(d.when, signal)) return true;
  }
  return false;
}

} // namespace weft::graph::checking
