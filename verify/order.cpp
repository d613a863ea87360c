// SPDX-License-Identifier: BSD-3-Clause
#include "verify/order.hpp"

#include <algorithm>

namespace weft::graph::checking {

adjacency::adjacency(const event_graph& g, end by)
    : first_(g.events.size() + 1), neighbours_(g.edges.size()) {
  const auto key = [&](const edge& e) { return by == end::from ? e.from : e.to; };
  for (const edge& e : g.edges)
    ++first_[key(e) + 1];
  for (std::size_t k = 1; k < first_.size(); ++k)
    first_[k] += first_[k - 1];
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (const edge& e : g.edges)
    neighbours_[next[key(e)]++] = by == end::from ? e.to : e.from;
}

symbolic_run::symbolic_run(const event_graph& g, const adjacency& after, const adjacency& before,
                           std::vector<bool> dead)
    : graph_(g), after_(after), before_(before), dead_(std::move(dead)), missing_(g.events.size()),
      happened_(g.events.size()), saw_all_(g.events.size()) {
  dead_.resize(g.events.size());
  for (const edge& e : g.edges)
    ++missing_[e.to];
  order_.reserve(g.events.size());
  for (event_id e = 0; e < g.events.size(); ++e) {
    const role as = g.events[e].as;
    if (missing_[e] == 0 && as != role::never && !g.events[e].any()) happen(e);
  }
  // `order_` is the queue as well.
  std::size_t next = 0, released = 0;
  while (true) {
    for (; next < order_.size(); ++next) {
      for (const event_id to : after_.of(order_[next])) {
        --missing_[to];
        if (missing_[to] == 0)
          happen(to);
        else if (graph_.events[to].any() && missing_[to] + 1 == before_.of(to).size())
          touched_.push_back(to);
      }
    }
    if (released == touched_.size()) break;
    happen(touched_[released++]);
  }
}

void symbolic_run::happen(event_id e) {
  if (happened_[e] || dead_[e]) return;
  happened_[e] = true;
  saw_all_[e] = missing_[e] == 0;
  order_.push_back(e);
}

bool symbolic_run::complete() const {
  return order_.size() == graph_.events.size();
}

event_id symbolic_run::blocker(event_id stuck) const {
  for (const event_id from : before_.of(stuck)) {
    if (!happened_[from]) return from;
  }
  return no_event;
}

std::string symbolic_run::why(event_id stuck) const {
  std::string text = graph_.text(stuck);
  std::vector<bool> seen(graph_.events.size());
  for (event_id e = blocker(stuck); e != no_event && !seen[e]; e = blocker(e)) {
    seen[e] = true;
    if (graph_.events[e].as != role::join) text += " waits for " + graph_.text(e);
  }
  return text;
}

void symbolic_run::report_cycles(report& out) const {
  std::vector<std::uint32_t> walk(graph_.events.size()); // which walk came by; 0 = none yet
  std::uint32_t walks = 0;
  for (event_id start = 0; start < graph_.events.size(); ++start) {
    if (happened_[start] || walk[start] != 0) continue;
    ++walks;
    std::vector<event_id> path;
    event_id e = start;
    for (; e != no_event && walk[e] == 0; e = blocker(e)) {
      walk[e] = walks;
      path.push_back(e);
    }
    if (e == no_event || walk[e] != walks) continue;
    std::string text;
    for (auto at = std::find(path.begin(), path.end(), e); at != path.end(); ++at) {
      if (graph_.events[*at].as != role::join) text += graph_.text(*at) + " waits for ";
    }
    out.add(fault::cycle, "{}{}", text, graph_.text(e));
  }
}

std::vector<bool> symbolic_run::behind(event_id a) const {
  std::vector<bool> later(graph_.events.size());
  later[a] = true;
  for (const event_id e : order_) {
    if (graph_.events[e].as == role::arrival || e == a) continue;
    const auto from = before_.of(e);
    const auto known = [&](event_id p) { return bool{later[p]}; };
    later[e] = graph_.events[e].any() ? saw_all(e) && std::all_of(from.begin(), from.end(), known)
                                      : std::any_of(from.begin(), from.end(), known);
  }
  return later;
}

} // namespace weft::graph::checking
