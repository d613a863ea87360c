// SPDX-License-Identifier: BSD-3-Clause
#include "verify/completions.hpp"

#include <algorithm>
#include <bit>

namespace weft::graph::checking {

completion_flow::completion_flow(const event_graph& g, const adjacency& after, const adjacency& before,
                                 const symbolic_run& run)
    : graph_(g), after_(after), before_(before), run_(run), position_(g.events.size()),
      first_(g.accesses.size() + 1), when_(g.completions.size()), due_((g.events.size() + 63) / 64),
      place_of_(g.events.size(), nowhere) {
  for (std::uint32_t k = 0; k < run.order().size(); ++k)
    position_[run.order()[k]] = k;
  number_completions();
}

void completion_flow::number_completions() {
  for (const completion& c : graph_.completions)
    ++first_[c.which + 1];
  for (std::size_t k = 1; k < first_.size(); ++k)
    first_[k] += first_[k - 1];
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (const completion& c : graph_.completions)
    when_[next[c.which]++] = c.when;
}

void completion_flow::forget() {
  for (const reached& r : reached_)
    place_of_[r.event] = nowhere;
  reached_.clear();
  sources_.clear();
  next_source_ = 0;
}

void completion_flow::follow(std::span<const std::uint32_t> accesses) {
  forget();
  for (std::uint32_t k = 0; k < accesses.size(); ++k) {
    for (std::uint32_t c = first_[accesses[k]]; c < first_[accesses[k] + 1]; ++c) {
      sources_.push_back({position_[when_[c]], k});
      reach(when_[c]);
    }
  }
  std::sort(sources_.begin(), sources_.end(),
            [](const source& a, const source& b) { return a.position < b.position; });
  // What passes reaches only what comes later in the run.
  for (std::size_t w = sources_.empty() ? due_.size() : sources_.front().position / 64; w < due_.size();
       ++w) {
    while (due_[w] != 0) {
      const auto position =
          static_cast<std::uint32_t>(w * 64) + static_cast<std::uint32_t>(std::countr_zero(due_[w]));
      due_[w] &= due_[w] - 1;
      pass(position);
    }
  }
}

completion_flow::reached& completion_flow::reach(event_id e) {
  std::uint32_t& place = place_of_[e];
  if (place == nowhere) {
    place = static_cast<std::uint32_t>(reached_.size());
    reached_.push_back({e, 0, {}});
    due_[position_[e] / 64] |= std::uint64_t{1} << (position_[e] % 64);
  }
  return reached_[place];
}

// All that an event can know has been told to it.
void completion_flow::pass(std::uint32_t position) {
  const event_id e = run_.order()[position];
  reached& here = reached_[place_of_[e]];
  if (graph_.events[e].any() && here.told_by != before_.of(e).size()) here.complete.reset();
  for (; next_source_ < sources_.size() && sources_[next_source_].position == position; ++next_source_)
    here.complete.set(sources_[next_source_].access);
  if (here.complete.none()) return;
  const set complete = here.complete; // reaching others moves it
  for (const event_id to : after_.of(e))
    tell(complete, to);
}

// An arrival may be that of any message, also of one that knows nothing. An event that has not seen all that
// may cause it has nothing in common with those that come later.
void completion_flow::tell(const set& complete, event_id to) {
  const event& at = graph_.events[to];
  if (at.as == role::arrival || (at.any() && !run_.saw_all(to))) return;
  reached& there = reach(to);
  if (at.any() && there.told_by != 0)
    there.complete &= complete;
  else
    there.complete |= complete;
  ++there.told_by;
}

} // namespace weft::graph::checking
