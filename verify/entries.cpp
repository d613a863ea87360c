// SPDX-License-Identifier: BSD-3-Clause
#include "verify/checks.hpp"

#include "engine/plan/names.hpp"

#include <algorithm>
#include <bit>

namespace weft::graph::checking {

namespace {

// Whose entry is known at every event, of 64 members at a time: a word for each event, however many members
// there are.
class entry_flow {
public:
  static constexpr std::uint32_t at_once = 64;

  entry_flow(const event_graph& g, const adjacency& before, const symbolic_run& run)
      : graph_(g), before_(before), run_(run), known_(g.events.size()) {}

  // From now on it is about the members first .. first + 63.
  void follow(std::uint32_t first) {
    first_ = first;
    for (const event_id e : run_.order())
      known_[e] = learnt(e);
  }

  bool covers(std::uint32_t member) const { return member - first_ < at_once; }
  bool entered(event_id at, std::uint32_t member) const { return (known_[at] & bit(member)) != 0; }
  std::uint32_t first_absent(event_id at) const {
    const std::uint32_t absent = first_ + static_cast<std::uint32_t>(std::countr_one(known_[at]));
    return absent < std::min(first_ + at_once, graph_.members()) ? absent : no_rank;
  }

private:
  std::uint64_t bit(std::uint32_t member) const {
    return covers(member) ? std::uint64_t{1} << (member - first_) : 0;
  }

  std::uint64_t learnt(event_id e) const {
    const event& at = graph_.events[e];
    if (at.as == role::post) return bit(at.member);
    if (at.as == role::arrival) return bit(at.peer);
    if (at.any()) return common(e);
    std::uint64_t known = 0;
    for (const event_id p : before_.of(e))
      known |= known_[p];
    return known;
  }

  // What every one of them knows. One that has not happened yet may know anything else, so nothing is common.
  std::uint64_t common(event_id e) const {
    if (!run_.saw_all(e)) return 0;
    const event& at = graph_.events[e];
    std::uint64_t known = ~std::uint64_t{0};
    for (const event_id p : before_.of(e)) {
      // Under IN_MY a rank that assists checks by itself that both ends of a block have entered.
      const bool checks = graph_.events[p].as == role::helpers && graph_.plans[at.member].in == sync::my;
      known &= checks ? known_[p] | bit(at.member) | bit(at.peer) : known_[p];
    }
    return known;
  }

  const event_graph& graph_;
  const adjacency& before_;
  const symbolic_run& run_;
  std::uint32_t first_ = 0;
  std::vector<std::uint64_t> known_; // by event
};

// At this event the owner's entry must be known, or each rank's.
struct demand {
  event_id at;
  std::uint32_t owner; // no rank: a rank leaves
  bool of_all;
  std::string_view does;
};

class entries_check {
public:
  entries_check(const event_graph& g, report& out) : graph_(g), out_(out) {}

  void run(const adjacency& before, const symbolic_run& order) {
    bool asked = false;
    each_demand([&](const demand&) { asked = true; });
    if (!asked) return;
    entry_flow flow(graph_, before, order);
    for (std::uint32_t first = 0; first < graph_.members(); first += entry_flow::at_once) {
      flow.follow(first);
      collect(flow);
    }
    tell();
  }

private:
  struct unmet {
    std::size_t number; // of the demand
    std::uint32_t unknown;
    demand what;
  };

  // Always in the same order, so that they can be told apart by their number.
  template <class Visit> void each_demand(Visit&& visit) const {
    const auto touches = [&](event_id at, std::uint32_t owner, std::string_view does) {
      const sync in = graph_.plans[graph_.events[at].member].in;
      if (in != sync::no) visit(demand{at, owner, in == sync::all, does});
    };
    for (const access& a : graph_.accesses) {
      if (a.executor == no_rank || (a.bytes == 0 && a.row == row_access::none)) continue;
      if (a.reads)
        touches(a.begin, a.source, a.row != row_access::none ? "reads the row of" : "reads data of");
      if (a.writes) touches(a.begin, a.destination, "writes data of");
    }
    // Each carrier by itself must be allowed to carry the block. Under IN_MY one that assists checks the ends
    // of every block as he goes; IN_ALL must be known before.
    for (const carrier& c : graph_.carriers) {
      const plan& p = graph_.plans[c.destination];
      if (p.block() == 0 && p.names == naming::none) continue;
      touches(c.when, c.source, "may carry data from");
      touches(c.when, c.destination, "may carry data to");
    }
    for (event_id e = 0; e < graph_.events.size(); ++e) {
      const event& at = graph_.events[e];
      if (at.as != role::step || graph_.plans[at.member].in != sync::all) continue;
      if (graph_.plans[at.member].nodes[at.node].what == kind::assist)
        touches(e, at.member, "may carry data of");
    }
    // Leaving a barrier, or an operation that waits for all, tells that all have entered.
    for (std::uint32_t r = 0; r < graph_.members(); ++r) {
      const plan& p = graph_.plans[r];
      if (p.valued || p.in == sync::all) visit(demand{graph_.exits[r], no_rank, true, {}});
    }
  }

  // No more are kept than are told.
  void collect(const entry_flow& flow) {
    std::size_t number = 0, found = 0;
    each_demand([&](const demand& d) {
      ++number;
      if (found == report::limit) return;
      std::uint32_t unknown = no_rank;
      if (d.of_all)
        unknown = flow.first_absent(d.at);
      else if (flow.covers(d.owner) && !flow.entered(d.at, d.owner))
        unknown = d.owner;
      if (unknown == no_rank) return;
      unmet_.push_back({number, unknown, d});
      ++found;
    });
  }

  // Of a demand for all, the first that is absent.
  void tell() {
    std::stable_sort(unmet_.begin(), unmet_.end(),
                     [](const unmet& a, const unmet& b) { return a.number < b.number; });
    std::size_t told = 0; // numbers begin at 1
    for (const unmet& u : unmet_) {
      if (u.number == told) continue;
      told = u.number;
      const std::uint32_t executor = graph_.events[u.what.at].member;
      if (u.what.owner == no_rank) {
        out_.add(fault::early_exit, "rank {} may leave before rank {} has entered", executor, u.unknown);
        continue;
      }
      out_.add(fault::early_access, "{}: {} rank {} under IN_{}, not knowing the entry of rank {}",
               graph_.text(u.what.at), u.what.does, u.what.owner, graph::name(graph_.plans[executor].in),
               u.unknown);
    }
  }

  const event_graph& graph_;
  report& out_;
  std::vector<unmet> unmet_;
};

} // namespace

void check_entries(const event_graph& g, const adjacency& before, const symbolic_run& run, report& out) {
  entries_check(g, out).run(before, run);
}

} // namespace weft::graph::checking
