// SPDX-License-Identifier: BSD-3-Clause
#include "verify/verifier.hpp"

#include "engine/format.hpp"
#include "engine/plan/builder.hpp"
#include "verify/checks.hpp"

#include <algorithm>

namespace weft::graph {

bool verdict::has(fault what) const {
  return std::any_of(findings.begin(), findings.end(), [&](const finding& f) { return f.what == what; });
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
    lines += engine::format("{}: {}\n", name(f.what), f.text);
  return lines;
}

namespace checking {
namespace {

std::vector<topology> places_of(const std::vector<std::uint32_t>& host_of_rank) {
  std::vector<topology> places;
  places.reserve(host_of_rank.size());
  for (std::uint32_t r = 0; r < host_of_rank.size(); ++r)
    places.emplace_back(r, host_of_rank);
  return places;
}

bool fit(std::span<const plan> plans, const std::vector<std::uint32_t>& host_of_rank,
         const movement& expected, report& out) {
  if (plans.empty() || plans.size() != host_of_rank.size()) {
    out.add(fault::malformed, "{} plans for {} members", plans.size(), host_of_rank.size());
  }
  for (const std::uint32_t named : expected.names) {
    if (named >= plans.size() && named != movement::no_rank)
      out.add(fault::malformed, "a row names rank {} of {}", named, plans.size());
  }
  return out.empty();
}

movement said_by(std::span<const plan> plans) {
  if (plans.empty()) return {};
  const plan& p = plans.front();
  const place &src = p.places[in_source], &dst = p.places[in_destination];
  return {p.pairs, {p.block(), src.from, src.to, dst.from, dst.to}, p.root, {}, p.in_place};
}

void check_all(std::span<const plan> plans, std::vector<topology> places, const movement& expected,
               const on_progress& progress, report& out) {
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
  check_entries(g, before, run, out);
  check_accesses(g, after, before, run, progress, out);
}

// What members do that have posted and compute: nothing, or what they are rung for.
enum class away : std::uint8_t { idle, rung };

bool happens(const event_graph& g, const event& e, away how) {
  if (how == away::idle || e.as == role::exit) return false;
  return e.as == role::answer || (g.plans[e.member].alone >> e.top & 1) != 0; // a question is a message
}

void check_without(std::span<const plan> plans, std::vector<topology> places,
                   const std::vector<std::uint32_t>& absent, away how, const movement& expected,
                   report& out) {
  check_structure(plans, places, out);
  if (!out.empty()) return;
  report elsewhere; // what is wrong also without an absence is for verify
  const event_graph g = unfold(plans, std::move(places), expected, elsewhere);
  std::vector<bool> gone(g.members());
  for (const std::uint32_t r : absent)
    gone.at(r) = true;
  std::vector<bool> dead(g.events.size());
  for (event_id e = 0; e < g.events.size(); ++e) {
    const event& it = g.events[e];
    dead[e] = it.takes_its_member() && gone[it.member] && !happens(g, it, how);
  }
  for (const event_id e : g.at_post)
    dead[e] = false;
  const adjacency after(g, adjacency::end::from), before(g, adjacency::end::to);
  const symbolic_run run(g, after, before, std::move(dead));
  for (std::uint32_t r = 0; r < g.members(); ++r) {
    if (!gone[r] && !run.happened(g.exits[r])) out.add(fault::not_independent, "{}", run.why(g.exits[r]));
  }
}

verdict verify_without(std::span<const plan> plans, const std::vector<std::uint32_t>& host_of_rank,
                       const std::vector<std::uint32_t>& absent, away how, const movement& expected) {
  report out;
  if (fit(plans, host_of_rank, expected, out))
    each_way(plans, [&](std::span<const plan> of_way) {
      check_without(of_way, places_of(host_of_rank), absent, how, expected, out);
    });
  return out.take();
}

} // namespace
} // namespace checking

verdict verify(std::span<const plan> plans, const std::vector<std::uint32_t>& host_of_rank,
               const movement& expected, const on_progress& progress) {
  checking::report out;
  if (checking::fit(plans, host_of_rank, expected, out)) {
    checking::check_choices(plans, checking::places_of(host_of_rank), out);
    each_way(plans, [&](std::span<const plan> of_way) {
      checking::check_all(of_way, checking::places_of(host_of_rank), expected, progress, out);
    });
  }
  return out.take();
}

verdict verify(std::span<const plan> plans, const std::vector<std::uint32_t>& host_of_rank) {
  return verify(plans, host_of_rank, checking::said_by(plans));
}

verdict verify_independence(std::span<const plan> plans, const std::vector<std::uint32_t>& host_of_rank,
                            const std::vector<std::uint32_t>& absent) {
  return verify_independence(plans, host_of_rank, absent, checking::said_by(plans));
}

verdict verify_independence(std::span<const plan> plans, const std::vector<std::uint32_t>& host_of_rank,
                            const std::vector<std::uint32_t>& absent, const movement& expected) {
  using checking::away;
  return checking::verify_without(plans, host_of_rank, absent, away::idle, expected);
}

verdict verify_rung(std::span<const plan> plans, const std::vector<std::uint32_t>& host_of_rank,
                    const std::vector<std::uint32_t>& absent, const movement& expected) {
  using checking::away;
  return checking::verify_without(plans, host_of_rank, absent, away::rung, expected);
}

} // namespace weft::graph
