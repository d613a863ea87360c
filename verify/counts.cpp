// SPDX-License-Identifier: BSD-3-Clause
#include "verify/counts.hpp"

#include "engine/plan/names.hpp"

#include <algorithm>
#include <utility>

namespace weft::graph::checking {

counts::counts(event_graph& g, report& out)
    : graph_(g), out_(out), delivered_(std::size_t{max_phases} * g.members()), consumed_(delivered_.size()) {}

void counts::raise(const node& n, const cell& c, event_id e) {
  counter& raised = at(c.what, c.owner, c.phase);
  raised.signalled += n.count;
  raised.fed_by.push_back(e);
  if (n.stepwise) raised.owner_saw += n.count; // the owner counts itself
}

void counts::carried(fact which, std::uint32_t owner, std::uint32_t pieces, event_id when) {
  counter& raised = at(which, owner);
  raised.carried += pieces;
  raised.fed_by.push_back(when);
}

event_id counts::reached(counter& c, fact which, std::uint32_t owner) {
  if (c.reached == no_event) {
    c.reached = graph_.add(role::counter, owner);
    graph_.events[c.reached].about = which;
    for (const event_id e : c.fed_by)
      graph_.edges.push_back({graph_.heard(e), c.reached});
  }
  return c.reached;
}

void counts::hang(event_id e) {
  if (never_ == no_event) never_ = graph_.add(role::never, no_rank);
  graph_.edges.push_back({never_, e});
}

void counts::await(event_id e, const cell& wanted, bool by_rows) {
  counter& c = at(wanted.what, wanted.owner, wanted.phase);
  c.read = true;
  c.owner_saw = std::max<std::uint64_t>(c.owner_saw, wanted.value);
  const std::uint64_t total = c.signalled + c.carried;
  if (total == wanted.value && total == 0) return;
  // In place, what takes an empty block aside counts it all the same.
  if (by_rows && graph_.plans[wanted.owner].block() == 0) return;
  if (total == wanted.value) {
    graph_.edges.push_back({reached(c, wanted.what, wanted.owner), e});
  } else if (total == 0) {
    out_.add(fault::missing_signal, "{}: no action counts", graph_.text(e));
    hang(e);
  } else {
    out_.add(fault::wrong_count, "{}: {} arrive", graph_.text(e), total);
    if (total < wanted.value) hang(e); // else it passes before all have come, and nothing is known behind it
  }
}

void counts::await_step(event_id e, const cell& wanted) {
  if (wanted.value == 0) return;
  counter& c = at(wanted.what, wanted.owner, wanted.phase);
  c.read = true;
  if (wanted.owner == graph_.events[e].member)
    c.owner_saw = std::max<std::uint64_t>(c.owner_saw, wanted.value);
  else
    c.watched = e;
  if (c.signalled < wanted.value) {
    out_.add(fault::wrong_count, "{}: {} of {} arrive", graph_.text(e), c.signalled, wanted.value);
    hang(e);
  } else if (c.carried != 0 || !in_order(c, wanted.value)) {
    out_.add(fault::wrong_count, "{}: those before it are counted in no order", graph_.text(e));
  } else {
    graph_.edges.push_back({graph_.heard(c.fed_by[wanted.value - 1]), e});
  }
}

bool counts::in_order(const counter& c, std::uint32_t steps) const {
  const event& first = graph_.events[c.fed_by.front()];
  const plan& p = graph_.plans[first.member];
  const node& loop = p.nodes[first.top];
  if (steps > 1 && loop.ordered != 1 && !loop.pipelined) return false;
  return std::all_of(c.fed_by.begin(), c.fed_by.begin() + steps, [&](event_id e) {
    const event& at = graph_.events[e];
    return at.member == first.member && at.node == first.node && p.nodes[at.node].count == 1;
  });
}

void counts::await_full(event_id begin, event_id end, fact which, std::uint32_t owner, std::uint32_t wanted) {
  if (wanted == 0) return;
  counter& c = at(which, owner);
  c.read = true;
  const std::uint64_t total = c.signalled + c.carried;
  if (total == wanted) {
    graph_.edges.push_back({reached(c, which, owner), end});
    return;
  }
  if (total < wanted) hang(end);
  if (!std::exchange(c.reported, true)) {
    out_.add(fault::wrong_count, "{}: rank {} is full with {} pieces, {} arrive", graph_.text(begin), owner,
             wanted, total);
  }
}

void counts::find_unread() {
  const std::uint32_t size = graph_.members();
  for (const fact which : {fact::delivered, fact::consumed}) {
    for (std::uint32_t k = 0; k < delivered_.size(); ++k) {
      const counter& c = at(which, k % size, k / size);
      if (c.signalled != 0 && !c.read) {
        out_.add(fault::surplus_signal, "{} are counted on rank {} ({}), which never awaits it", c.signalled,
                 k % size, name(which));
      }
    }
  }
  // One that others watch must be full before its owner leaves: a later operation may count on it then.
  for (std::uint32_t k = 0; k < delivered_.size(); ++k) {
    const counter& c = delivered_[k];
    if (c.watched == no_event || c.owner_saw == c.signalled) continue;
    out_.add(fault::early_exit, "{}: rank {} may leave before its count is full", graph_.text(c.watched),
             k % size);
  }
}

} // namespace weft::graph::checking
