#include "engine/graph/verifier.hpp"

#include "engine/graph/names.hpp"
#include "engine/graph/verify_bytes.hpp"
#include "engine/graph/verify_forwarding.hpp"
#include "engine/graph/verify_order.hpp"
#include "engine/graph/verify_structure.hpp"

#include <algorithm>

namespace weft::graph {

bool verdict::has(fault what) const {
  return std::any_of(findings.begin(), findings.end(), [&](const finding& f) { return f.what == what; });
}

bool movement::sends(std::uint32_t i, std::uint32_t j) const {
  switch (pairs) {
  case pattern::all_pairs:
    return true;
  case pattern::from_root:
    return i == root;
  case pattern::to_root:
    return j == root;
  case pattern::by_source:
    return named_by(i) == j;
  case pattern::by_destination:
    return named_by(j) == i;
  case pattern::none:
    break;
  }
  return false;
}

namespace {

std::string_view name(fault f) {
  switch (f) {
  case fault::malformed:
    return "malformed plan";
  case fault::mismatch:
    return "mismatch";
  case fault::missing_signal:
    return "missing signal";
  case fault::surplus_signal:
    return "surplus signal";
  case fault::wrong_count:
    return "wrong count";
  case fault::cycle:
    return "cycle";
  case fault::written_twice:
    return "written twice";
  case fault::never_written:
    return "never written";
  case fault::written_outside:
    return "written outside";
  case fault::wrong_provenance:
    return "wrong provenance";
  case fault::race:
    return "race";
  case fault::late_entry:
    return "late entry";
  case fault::early_access:
    return "early access";
  case fault::early_exit:
    return "early exit";
  case fault::early_signal:
    return "early signal";
  case fault::missing_flush:
    return "missing flush";
  case fault::missing_row:
    return "missing row";
  case fault::not_independent:
    return "not independent";
  }
  return "?";
}

} // namespace

std::string verdict::text() const {
  std::string lines;
  for (const finding& f : findings)
    lines += fmt::format("{}: {}\n", name(f.what), f.text);
  return lines;
}

namespace checking {
namespace {

std::vector<geometry> places_of(const std::vector<std::uint32_t>& node_of_rank) {
  std::vector<geometry> places;
  places.reserve(node_of_rank.size());
  for (std::uint32_t r = 0; r < node_of_rank.size(); ++r)
    places.emplace_back(r, node_of_rank);
  return places;
}

// What the IN modes allow and the OUT modes demand.
class modes_check {
public:
  modes_check(const event_graph& g, const knowledge& k, report& out) : graph_(g), known_(k), out_(out) {}

  void run() {
    for (const access& a : graph_.accesses) {
      if (a.executor == nobody || (a.bytes == 0 && a.row == row_access::none)) continue;
      if (a.reads)
        check_entry(a.begin, a.source, a.row != row_access::none ? "reads the row of" : "reads data of");
      if (a.writes) check_entry(a.begin, a.destination, "writes data of");
    }
    check_carriers();
    check_exits();
  }

private:
  void check_entry(event_id at, std::uint32_t owner, std::string_view does) {
    const std::uint32_t executor = graph_.events[at].member;
    const sync in = graph_.plans[executor].in;
    if (in == sync::no) return;
    const std::uint32_t unknown = in == sync::all             ? known_.first_absent(at)
                                  : known_.entered(at, owner) ? nobody
                                                              : owner;
    if (unknown == nobody) return;
    out_.add(fault::early_access, "{}: {} rank {} under IN_{}, not knowing the entry of rank {}",
             graph_.text(at), does, owner, graph::name(in), unknown);
  }

  // Each carrier by itself must be allowed to carry the block. Under IN_MY one who assists checks the ends of
  // every block as he goes; IN_ALL must be known before.
  void check_carriers() {
    for (const carrier& c : graph_.carriers) {
      const plan& p = graph_.plans[c.destination];
      if (p.rule.bytes == 0 && p.names == naming::none) continue;
      check_entry(c.when, c.source, "may carry data from");
      check_entry(c.when, c.destination, "may carry data to");
    }
    for (event_id e = 0; e < graph_.events.size(); ++e) {
      const event& at = graph_.events[e];
      if (at.as != role::step || graph_.plans[at.member].in != sync::all) continue;
      if (graph_.plans[at.member].nodes[at.node].what == kind::assist)
        check_entry(e, at.member, "may carry data of");
    }
  }

  void check_exits() {
    for (std::uint32_t r = 0; r < graph_.members(); ++r)
      check_exit_entries(r);
    for (std::uint32_t a = 0; a < graph_.accesses.size(); ++a) {
      if (!known_.tracked(a)) continue;
      const access& it = graph_.accesses[a];
      if (graph_.plans[it.destination].out == sync::all) {
        for (std::uint32_t r = 0; r < graph_.members(); ++r)
          check_exit(r, a);
        continue;
      }
      if (graph_.plans[it.destination].out == sync::no) continue;
      if (it.reads) check_exit(it.source, a);
      if (it.writes && it.destination != it.source) check_exit(it.destination, a);
    }
  }

  // Leaving a barrier, or an operation that waits for all, tells that all have entered.
  void check_exit_entries(std::uint32_t r) {
    const plan& p = graph_.plans[r];
    if (!p.valued && p.in != sync::all) return;
    const std::uint32_t unknown = known_.first_absent(graph_.exits[r]);
    if (unknown == nobody) return;
    out_.add(fault::early_exit, "rank {} may leave before rank {} has entered", r, unknown);
  }

  void check_exit(std::uint32_t r, std::uint32_t which) {
    if (known_.complete(graph_.exits[r], which)) return;
    const access& a = graph_.accesses[which];
    if (a.row != row_access::none) {
      out_.add(fault::early_exit, "rank {} may leave under OUT_{} while {} reads its row", r,
               graph::name(graph_.plans[r].out), graph_.text(a.begin));
      return;
    }
    out_.add(fault::early_exit,
             "rank {} may leave under OUT_{} while {} still moves data from rank {} to rank {}", r,
             graph::name(graph_.plans[r].out), graph_.text(a.begin), a.source, a.destination);
  }

  const event_graph& graph_;
  const knowledge& known_;
  report& out_;
};

bool fit(std::span<const plan> plans, const std::vector<std::uint32_t>& node_of_rank,
         const movement& expected, report& out) {
  if (plans.empty() || plans.size() != node_of_rank.size()) {
    out.add(fault::malformed, "{} plans for {} members", plans.size(), node_of_rank.size());
  }
  for (const std::uint32_t named : expected.names) {
    if (named >= plans.size() && named != movement::nobody)
      out.add(fault::malformed, "a row names rank {} of {}", named, plans.size());
  }
  return out.empty();
}

movement said_by(std::span<const plan> plans) {
  if (plans.empty()) return {};
  const plan& p = plans.front();
  return {p.pairs, p.rule, p.root, {}, p.in_place};
}

void check_all(std::span<const plan> plans, std::vector<geometry> places, const movement& expected,
               report& out) {
  check_structure(plans, places, out);
  if (!out.empty()) return;
  check_agreement(plans, out);
  const event_graph g = unfold(plans, std::move(places), expected, out);
  const adjacency after(g, adjacency::end::from), before(g, adjacency::end::to);
  const symbolic_run run(g, after, before, {});
  check_bytes(g, run, expected, out);
  if (!run.complete()) {
    run.report_cycles(out);
    return;
  }
  const knowledge known(g, before, run);
  modes_check(g, known, out).run();
  check_forwarding(g, known, out);
}

void check_without(std::span<const plan> plans, std::vector<geometry> places,
                   const std::vector<std::uint32_t>& absent, const movement& expected, report& out) {
  check_structure(plans, places, out);
  if (!out.empty()) return;
  report elsewhere; // what is wrong also without an absence is for verify
  const event_graph g = unfold(plans, std::move(places), expected, elsewhere);
  std::vector<bool> gone(g.members());
  for (const std::uint32_t r : absent)
    gone.at(r) = true;
  std::vector<bool> dead(g.events.size());
  for (event_id e = 0; e < g.events.size(); ++e) {
    dead[e] = g.events[e].takes_its_member() && gone[g.events[e].member];
  }
  for (const event_id e : g.at_post)
    dead[e] = false;
  const adjacency after(g, adjacency::end::from), before(g, adjacency::end::to);
  const symbolic_run run(g, after, before, std::move(dead));
  for (std::uint32_t r = 0; r < g.members(); ++r) {
    if (!gone[r] && !run.happened(g.exits[r])) out.add(fault::not_independent, "{}", run.why(g.exits[r]));
  }
}

} // namespace
} // namespace checking

verdict verify(std::span<const plan> plans, const std::vector<std::uint32_t>& node_of_rank,
               const movement& expected) {
  checking::report out;
  if (checking::fit(plans, node_of_rank, expected, out)) {
    checking::check_all(plans, checking::places_of(node_of_rank), expected, out);
  }
  return out.take();
}

verdict verify(std::span<const plan> plans, const std::vector<std::uint32_t>& node_of_rank) {
  return verify(plans, node_of_rank, checking::said_by(plans));
}

verdict verify_independence(std::span<const plan> plans, const std::vector<std::uint32_t>& node_of_rank,
                            const std::vector<std::uint32_t>& absent) {
  return verify_independence(plans, node_of_rank, absent, checking::said_by(plans));
}

verdict verify_independence(std::span<const plan> plans, const std::vector<std::uint32_t>& node_of_rank,
                            const std::vector<std::uint32_t>& absent, const movement& expected) {
  checking::report out;
  if (checking::fit(plans, node_of_rank, expected, out)) {
    checking::check_without(plans, checking::places_of(node_of_rank), absent, expected, out);
  }
  return out.take();
}

} // namespace weft::graph
