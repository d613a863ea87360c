#include "engine/graph/verify_order.hpp"

#include <algorithm>
#include <bit>

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

bool symbolic_run::precedes(event_id a, event_id b) const {
  std::vector<bool> later(graph_.events.size());
  later[a] = true;
  for (const event_id e : order_) {
    if (graph_.events[e].as == role::arrival || e == a) continue;
    const auto from = before_.of(e);
    const auto known = [&](event_id p) { return bool{later[p]}; };
    later[e] = graph_.events[e].any() ? saw_all(e) && std::all_of(from.begin(), from.end(), known)
                                      : std::any_of(from.begin(), from.end(), known);
  }
  return later[b];
}

knowledge::knowledge(const event_graph& g, const adjacency& before, const symbolic_run& run)
    : graph_(g), before_(before), run_(run), words_((g.members() + 63) / 64),
      entries_(g.events.size() * words_), set_of_(g.events.size()), bit_(g.accesses.size(), nobody),
      first_completion_(g.events.size() + 1) {
  number_accesses();
  sets_.resize(set_words_);
  for (const event_id e : run.order())
    learn(e);
}

// OUT_ALL must know every access at every exit, OUT_MY those of a member's data by others; what a member does
// to its own data, and under OUT_NO whatever it does, is known to its exit by the edges from its own nodes.
// Who hands on what has been written to his destination must know that it is there.
void knowledge::number_accesses() {
  std::uint32_t bits = 0;
  const bool hands_on =
      std::any_of(graph_.accesses.begin(), graph_.accesses.end(), [](const access& a) { return a.forwards; });
  for (std::uint32_t a = 0; a < graph_.accesses.size(); ++a) {
    const access& it = graph_.accesses[a];
    const sync out = graph_.plans[it.destination].out;
    const bool foreign =
        (it.reads && it.source != it.executor) || (it.writes && it.destination != it.executor);
    const bool exposed = it.bytes != 0 || (it.row == row_access::in_place && foreign);
    if ((hands_on && it.writes && it.bytes != 0) ||
        (exposed && (out == sync::all || (out == sync::my && foreign))))
      bit_[a] = bits++;
  }
  set_words_ = (bits + 63) / 64;
  for (const completion& c : graph_.completions)
    ++first_completion_[c.when + 1];
  for (std::size_t k = 1; k < first_completion_.size(); ++k)
    first_completion_[k] += first_completion_[k - 1];
  completed_.resize(graph_.completions.size());
  std::vector<std::uint32_t> next(first_completion_.begin(), first_completion_.end() - 1);
  for (const completion& c : graph_.completions)
    completed_[next[c.when]++] = c.which;
}

std::uint32_t knowledge::first_absent(event_id at) const {
  for (std::size_t w = 0; w < words_; ++w) {
    const std::uint64_t unknown = ~entries_[at * words_ + w];
    const auto first = static_cast<std::uint32_t>(w * 64 + std::countr_zero(unknown));
    if (unknown != 0) return first < graph_.members() ? first : nobody;
  }
  return nobody;
}

bool knowledge::complete(event_id at, std::uint32_t which) const {
  const std::uint32_t bit = bit_[which];
  return (sets_[set_of_[at] * set_words_ + bit / 64] >> (bit % 64) & 1) != 0;
}

std::uint32_t knowledge::fresh_set(std::uint32_t copied) {
  sets_.resize((std::size_t{set_count_} + 1) * set_words_);
  std::copy_n(sets_.begin() + static_cast<std::ptrdiff_t>(copied * set_words_), set_words_,
              sets_.begin() + static_cast<std::ptrdiff_t>(set_count_ * set_words_));
  return set_count_++;
}

void knowledge::learn(event_id e) {
  const event& at = graph_.events[e];
  switch (at.as) {
  case role::post:
    entries(e)[at.member / 64] |= std::uint64_t{1} << (at.member % 64);
    break;
  case role::arrival:
    entries(e)[at.peer / 64] |= std::uint64_t{1} << (at.peer % 64);
    break;
  case role::block:
  case role::helpers:
  case role::hunted:
    learn_common(e, before_.of(e));
    break;
  default:
    learn_all(e, before_.of(e));
    break;
  }
  learn_completions(e);
}

void knowledge::learn_all(event_id e, std::span<const event_id> from) {
  std::uint32_t set = 0;
  bool owned = false;
  for (const event_id p : from) {
    for (std::size_t w = 0; w < words_; ++w)
      entries(e)[w] |= entries(p)[w];
    const std::uint32_t other = set_of_[p];
    if (other == 0 || other == set) continue;
    if (set == 0) {
      set = other;
      continue;
    }
    if (!owned) set = fresh_set(set);
    owned = true;
    std::uint64_t* mine = sets_.data() + set * set_words_;
    const std::uint64_t* theirs = sets_.data() + other * set_words_;
    for (std::size_t w = 0; w < set_words_; ++w)
      mine[w] |= theirs[w];
  }
  set_of_[e] = set;
}

// What every one of them knows. One that has not happened yet may know anything else, so nothing is common.
void knowledge::learn_common(event_id e, std::span<const event_id> from) {
  if (!run_.saw_all(e)) return;
  const event& at = graph_.events[e];
  std::uint32_t set = set_of_[from.front()];
  bool owned = false;
  for (std::size_t w = 0; w < words_; ++w)
    entries(e)[w] = ~std::uint64_t{0};
  for (const event_id p : from) {
    // Under IN_MY, who assists checks by himself that both ends of a block have entered.
    const bool checks = graph_.events[p].as == role::helpers && graph_.plans[at.member].in == sync::my;
    for (std::size_t w = 0; w < words_; ++w) {
      std::uint64_t known = entries(p)[w];
      if (checks && at.member / 64 == w) known |= std::uint64_t{1} << (at.member % 64);
      if (checks && at.peer / 64 == w) known |= std::uint64_t{1} << (at.peer % 64);
      entries(e)[w] &= known;
    }
    const std::uint32_t other = set_of_[p];
    if (set == 0 || other == set) continue;
    if (other == 0) {
      set = 0;
      continue;
    }
    if (!owned) set = fresh_set(set);
    owned = true;
    std::uint64_t* mine = sets_.data() + set * set_words_;
    const std::uint64_t* theirs = sets_.data() + other * set_words_;
    for (std::size_t w = 0; w < set_words_; ++w)
      mine[w] &= theirs[w];
  }
  set_of_[e] = set;
}

void knowledge::learn_completions(event_id e) {
  bool owned = false;
  for (std::uint32_t k = first_completion_[e]; k < first_completion_[e + 1]; ++k) {
    const std::uint32_t bit = bit_[completed_[k]];
    if (bit == nobody) continue;
    if (!owned) set_of_[e] = fresh_set(set_of_[e]);
    owned = true;
    sets_[set_of_[e] * set_words_ + bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
}

} // namespace weft::graph::checking
