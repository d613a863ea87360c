// SPDX-License-Identifier: BSD-3-Clause
#include "verify/checks.hpp"

#include "engine/plan/names.hpp"
#include "verify/completions.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace weft::graph::checking {

namespace {

enum class reason : std::uint8_t { overwritten, leaving, handed_on, left_behind };

// This access must be complete at this event.
struct demand {
  std::uint32_t which;
  event_id at;
  reason why;
};

// Pairs of accesses to the same bytes of a member of which one must come first. No byte has two writers: that
// is checked elsewhere.
class conflicts {
public:
  conflicts(const event_graph& g, const symbolic_run& order, std::vector<demand>& found)
      : graph_(g), order_(order), found_(found), written_(g.members()) {}

  // In place nothing may be overwritten before all that must have read it.
  void overwriting() {
    if (!graph_.moved.in_place) return;
    const auto ours = [&](const access& a) { return a.bytes != 0 && !stays(graph_.moved, a); };
    list_writes(ours);
    for (std::uint32_t a = 0; a < graph_.accesses.size(); ++a) {
      const access& reader = graph_.accesses[a];
      if (!reader.reads || !ours(reader)) continue;
      each_write(reader, [&](std::uint32_t w) {
        const event_id begin = graph_.accesses[w].begin;
        if (begin != reader.begin) // else they change places, or it is the reader's own
          found_.push_back({a, begin, reason::overwritten});
      });
    }
  }

  // A source that its member rewrites has been read before by others, or is read behind that.
  void rewriting() {
    for (const event_id e : graph_.rewrites) {
      const std::vector<bool> later = order_.behind(e);
      for (std::uint32_t a = 0; a < graph_.accesses.size(); ++a) {
        const access& reader = graph_.accesses[a];
        const bool foreign = reader.reads && !reader.forwards && reader.executor != reader.source;
        if (!foreign || reader.source != graph_.events[e].member || later[reader.begin]) continue;
        found_.push_back({a, e, reason::overwritten});
      }
    }
  }

  // A rank that hands on what has been written to its destination must know that it is there.
  void handing_on() {
    list_writes([](const access& a) { return a.bytes != 0; });
    for (const access& reader : graph_.accesses) {
      if (!reader.forwards || !reader.reads || reader.bytes == 0) continue;
      each_write(reader, [&](std::uint32_t w) { found_.push_back({w, reader.begin, reason::handed_on}); });
    }
  }

private:
  template <class Which> void list_writes(Which&& counts) {
    for (auto& list : written_)
      list.clear();
    for (std::uint32_t a = 0; a < graph_.accesses.size(); ++a) {
      const access& it = graph_.accesses[a];
      if (it.writes && counts(it)) written_[it.destination].push_back(a);
    }
    for (auto& list : written_) {
      std::sort(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) {
        return graph_.accesses[a].to < graph_.accesses[b].to;
      });
    }
  }

  template <class Visit> void each_write(const access& reader, Visit&& visit) const {
    const auto& list = written_[reader.source];
    const auto ends_before = [&](std::uint32_t a, std::uint64_t at) {
      return graph_.accesses[a].to + graph_.accesses[a].bytes <= at;
    };
    for (auto w = std::lower_bound(list.begin(), list.end(), reader.from, ends_before);
         w != list.end() && graph_.accesses[*w].to < reader.from + reader.bytes; ++w)
      visit(*w);
  }

  const event_graph& graph_;
  const symbolic_run& order_;
  std::vector<demand>& found_;
  std::vector<std::vector<std::uint32_t>> written_; // by member, in the order of their places
};

class accesses_check {
public:
  accesses_check(const event_graph& g, report& out) : graph_(g), out_(out), told_(g.accesses.size()) {
    std::vector<bool> known(g.accesses.size());
    for (const completion& c : g.completions)
      (g.events[c.when].as == role::landing ? told_ : known)[c.which] = true;
    for (std::size_t a = 0; a < told_.size(); ++a)
      told_[a] = told_[a] && !known[a];
  }

  void run(const adjacency& after, const adjacency& before, const symbolic_run& order,
           const on_progress& progress) {
    conflicts found(graph_, order, demands_);
    found.overwriting();
    found.rewriting();
    found.handing_on();
    const std::vector<std::uint32_t> all = grouped();
    if (all.empty()) return;
    std::stable_sort(demands_.begin(), demands_.end(),
                     [&](const demand& a, const demand& b) { return place_[a.which] < place_[b.which]; });
    completion_flow flow(graph_, after, before, order);
    for (std::size_t begin = 0; begin < all.size(); begin += completion_flow::at_once) {
      const auto group =
          std::span(all).subspan(begin, std::min(completion_flow::at_once, all.size() - begin));
      flow.follow(group);
      check_demands(flow, begin, group.size());
      check_exits(flow, group);
      if (progress) progress(begin + group.size(), all.size());
    }
    report_unmet();
  }

private:
  // OUT_ALL must know every access at every exit, OUT_MY those of a member's data by others; what a member
  // does to its own data, and under OUT_NO whatever it does, is known to its exit by the edges from its own
  // nodes. But a put that is only ordered before a signal is not: the exit of some member must know of it.
  bool leaving_matters(std::uint32_t which) const {
    const access& a = graph_.accesses[which];
    const sync out = graph_.plans[a.destination].out;
    if (out == sync::no) return a.bytes != 0 && told_[which];
    const bool foreign = (a.reads && a.source != a.executor) || (a.writes && a.destination != a.executor);
    const bool exposed = a.bytes != 0 || (a.row == row_access::in_place && foreign);
    return exposed && (out == sync::all || (out == sync::my && foreign));
  }

  // The accesses that matter, those of a member together.
  std::vector<std::uint32_t> grouped() {
    std::vector<bool> matters(graph_.accesses.size());
    for (const demand& d : demands_)
      matters[d.which] = true;
    std::vector<std::uint32_t> all;
    for (std::uint32_t a = 0; a < graph_.accesses.size(); ++a)
      if (matters[a] || leaving_matters(a)) all.push_back(a);
    const auto whose = [&](std::uint32_t a) {
      const access& it = graph_.accesses[a];
      return it.executor == no_rank ? it.destination : it.executor;
    };
    std::stable_sort(all.begin(), all.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return whose(a) < whose(b); });
    place_.resize(graph_.accesses.size());
    for (std::uint32_t k = 0; k < all.size(); ++k)
      place_[all[k]] = k;
    return all;
  }

  void check_demands(const completion_flow& flow, std::size_t begin, std::size_t size) {
    for (; next_ < demands_.size() && place_[demands_[next_].which] < begin + size; ++next_) {
      const demand& d = demands_[next_];
      if (!flow.complete(d.at)[place_[d.which] - begin]) note(d);
    }
  }

  void check_exits(const completion_flow& flow, std::span<const std::uint32_t> group) {
    completion_flow::set by_all, by_any;
    for (std::size_t k = 0; k < group.size(); ++k) {
      const access& a = graph_.accesses[group[k]];
      if (!leaving_matters(group[k])) continue;
      const sync out = graph_.plans[a.destination].out;
      if (out != sync::my) {
        (out == sync::all ? by_all : by_any).set(k);
        continue;
      }
      if (a.reads) check_exit(flow, group, k, a.source);
      if (a.writes && a.destination != a.source) check_exit(flow, group, k, a.destination);
    }
    check_left_behind(flow, group, by_any);
    if (by_all.none()) return;
    for (std::uint32_t r = 0; r < graph_.members(); ++r) {
      const completion_flow::set open = by_all & ~flow.complete(graph_.exits[r]);
      for (std::size_t k = open._Find_first(); k < open.size(); k = open._Find_next(k))
        check_exit(flow, group, k, r);
    }
  }

  // Once all have left it is in place: one of them has left behind it.
  void check_left_behind(const completion_flow& flow, std::span<const std::uint32_t> group,
                         completion_flow::set open) {
    for (std::uint32_t r = 0; r < graph_.members() && open.any(); ++r)
      open &= ~flow.complete(graph_.exits[r]);
    for (std::size_t k = open._Find_first(); k < open.size(); k = open._Find_next(k))
      note({group[k], graph_.exits[graph_.accesses[group[k]].executor], reason::left_behind});
  }

  void check_exit(const completion_flow& flow, std::span<const std::uint32_t> group, std::size_t k,
                  std::uint32_t member) {
    if (!flow.complete(graph_.exits[member])[k]) note({group[k], graph_.exits[member], reason::leaving});
  }

  // One mistake shows on every pair of members: no more are kept than are told.
  void note(const demand& d) {
    if (noted_[static_cast<std::size_t>(d.why)]++ < report::limit) unmet_.push_back(d);
  }

  void report_unmet() {
    std::stable_sort(unmet_.begin(), unmet_.end(), [](const demand& a, const demand& b) {
      return std::pair(a.why, a.which) < std::pair(b.why, b.which);
    });
    for (const demand& d : unmet_)
      tell(d);
  }

  void tell(const demand& d) {
    const access& a = graph_.accesses[d.which];
    const std::string does = graph_.text(a.begin);
    const std::uint32_t r = graph_.events[d.at].member;
    if (d.why == reason::overwritten) {
      out_.add(fault::race, "{} overwrites bytes of rank {} that {} may still have to read",
               graph_.text(d.at), a.source, does);
    } else if (d.why == reason::handed_on) {
      out_.add(fault::race, "{} hands on bytes of rank {} that {} may still write", graph_.text(d.at),
               a.destination, does);
    } else if (d.why == reason::left_behind) {
      out_.add(fault::missing_flush, "{}: all may have left under OUT_NO before it is in place on rank {}",
               does, a.destination);
    } else if (a.row != row_access::none) {
      out_.add(fault::early_exit, "rank {} may leave under OUT_{} while {} reads its row", r,
               graph::name(graph_.plans[r].out), does);
    } else {
      out_.add(fault::early_exit,
               "rank {} may leave under OUT_{} while {} still moves data from rank {} to rank {}", r,
               graph::name(graph_.plans[r].out), does, a.source, a.destination);
    }
  }

  const event_graph& graph_;
  report& out_;
  std::vector<bool>
      told_; // of an access: only a rank that hears a signal behind it knows that it is complete
  std::vector<demand> demands_; // of conflicts, in the order of their accesses' groups
  std::size_t next_ = 0;
  std::vector<std::uint32_t> place_; // of an access in its group's order
  std::vector<demand> unmet_;
  std::array<std::size_t, 4> noted_{}; // by reason
};

} // namespace

void check_accesses(const event_graph& g, const adjacency& after, const adjacency& before,
                    const symbolic_run& run, const on_progress& progress, report& out) {
  accesses_check(g, out).run(after, before, run, progress);
}

} // namespace weft::graph::checking
