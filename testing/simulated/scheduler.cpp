// SPDX-License-Identifier: BSD-3-Clause
#include "testing/simulated/scheduler.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft::transport::sim {
namespace {

const char* name(action what) {
  switch (what) {
  case action::begin:
    return "begin";
  case action::load:
    return "load";
  case action::store:
    return "store";
  case action::cas:
    return "cas";
  case action::add:
    return "add";
  case action::fence:
    return "fence";
  case action::copy:
    return "copy";
  case action::poll:
    return "poll";
  case action::get:
    return "get";
  case action::put:
    return "put";
  case action::flush:
    return "flush";
  case action::send:
    return "send";
  case action::ring:
    return "ring";
  case action::relax:
    return "relax";
  case action::yield:
    return "yield";
  case action::nap:
    return "nap";
  case action::compute:
    return "compute";
  case action::stop:
    return "stop";
  }
  return "?";
}

// Waits in vain of one rank, when no other rank can do anything, before it counts as stuck: more than any
// ladder of waiting has rungs.
constexpr std::uint64_t patience = 4000;

constexpr std::uint64_t abandoned_steps_limit = 1'000'000;

} // namespace

scheduler::scheduler(const simulation_options& options, seeded_random& random)
    : options_(options), random_(random), node_(options.host_of_rank), ranks_(options.ranks) {
  if (node_.empty()) node_.assign(options.ranks, 0);
  if (node_.size() != options.ranks) throw std::invalid_argument("host_of_rank: name a node for every rank");
  const std::uint32_t nodes = node_.empty() ? 0 : *std::max_element(node_.begin(), node_.end()) + 1;
  node_changes_.assign(nodes, 0);
  parked_.resize(nodes);
}

void scheduler::run(const std::function<void(std::uint32_t)>& body) {
  const auto ranks = static_cast<std::uint32_t>(ranks_.size());
  running_ = ranks;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    rank_state& r = ranks_[rank];
    r.code = std::make_unique<fiber>(options_.stack_bytes, [this, &r, &body, rank] {
      try {
        body(rank);
      } catch (const abandoned&) {
      } catch (...) {
        if (!error_) error_ = std::current_exception();
      }
      r.is = state::finished;
    });
    schedule(rank, 0);
  }
  try {
    loop();
  } catch (...) {
    if (!error_) error_ = std::current_exception();
  }
  abandon_all();
  if (error_) std::rethrow_exception(error_);
}

void scheduler::loop() {
  while (running_ != 0 && !error_) {
    if (queue_.empty() && !revive()) fail("deadlock: nothing is in flight and no rank can go on");
    if (reviving_ && all_wait_in_vain()) fail("deadlock: every rank waits in vain");
    if (steps_ > options_.step_limit + ranks_.size() * options_.steps_of_rank)
      fail("the limit of steps is reached, perhaps no rank makes progress");
    std::pop_heap(queue_.begin(), queue_.end(), later{});
    const entry next = queue_.back();
    queue_.pop_back();
    if (next.rank == no_rank) {
      now_ = next.when;
      run_event(next.turn);
    } else if (ranks_[next.rank].turn == next.turn) {
      run_rank(next.rank, next.when);
    }
  }
}

void scheduler::run_rank(std::uint32_t rank, nanoseconds when) {
  rank_state& r = ranks_[rank];
  r.is = state::ready;
  ++r.turn;
  r.clock = std::max(r.clock, when);
  r.burst = random_.coin(0.5) ? 0 : random_.up_to(options_.chaos.burst_ns);
  now_ = r.clock;
  r.code->resume();
  if (r.is == state::finished || r.is == state::stopped) --running_;
}

void scheduler::run_event(std::uint64_t place) {
  ++steps_;
  const std::function<void()> event = std::move(events_[place]);
  events_[place] = nullptr;
  free_events_.push_back(place);
  event();
}

// Puts those that were set aside back to spinning, so that they may find that it is time to sleep.
bool scheduler::revive() {
  bool any = false;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].is != state::parked) continue;
    schedule(rank, ranks_[rank].clock);
    any = true;
  }
  reviving_ = any;
  for (rank_state& r : ranks_)
    r.fruitless = 0;
  return any;
}

// A rank whose clock is ahead of the others' has its turns when they have come there.
bool scheduler::all_wait_in_vain() const {
  return std::ranges::all_of(
      ranks_, [](const rank_state& r) { return r.is != state::ready || r.fruitless > patience; });
}

void scheduler::abandon_all() {
  abandoning_ = true;
  for (rank_state& r : ranks_)
    if (r.code->started() && !r.code->finished()) {
      abandoned_steps_ = 0;
      r.code->resume();
    }
  abandoning_ = false;
}

void scheduler::push(nanoseconds when, std::uint32_t rank, std::uint64_t turn) {
  queue_.push_back({when, ++ties_, turn, rank});
  std::push_heap(queue_.begin(), queue_.end(), later{});
}

void scheduler::schedule(std::uint32_t rank, nanoseconds when) {
  ranks_[rank].is = state::ready;
  push(when, rank, ++ranks_[rank].turn);
}

void scheduler::leave(rank_state& r) {
  r.code->suspend();
  if (abandoning_) return;
  now_ = r.clock;
}

void scheduler::account(rank_state& r, action what, double cost) {
  ++steps_;
  r.last = what;
  r.clock += static_cast<nanoseconds>(std::ceil(cost));
  const simulated_chaos& chaos = options_.chaos;
  if (random_.coin(chaos.interrupt)) r.clock += random_.up_to(chaos.delay_ns);
  if (random_.coin(chaos.stall)) r.clock += random_.up_to(chaos.stall_ns);
  if (++r.steps == r.held_up_at) r.clock += r.held_up_for;
  now_ = r.clock;
  trace(static_cast<std::uint64_t>(&r - ranks_.data()) << 8 | static_cast<std::uint64_t>(what));
  trace(static_cast<std::uint64_t>(r.clock));
}

void scheduler::step(std::uint32_t rank, action what, double cost) {
  if (abandoning_) {
    // A rank that never waits must end as well.
    if (++abandoned_steps_ > abandoned_steps_limit) throw abandoned{};
    return;
  }
  rank_state& r = ranks_[rank];
  account(r, what, cost);
  if (queue_.empty() || r.clock <= queue_.front().when + r.burst) return;
  schedule(rank, r.clock);
  leave(r);
}

void scheduler::idle(std::uint32_t rank, action what, double cost, bool nothing_to_poll) {
  if (abandoning_) throw abandoned{};
  rank_state& r = ranks_[rank];
  const std::uint64_t changes = version(rank);
  const bool in_vain = changes == r.seen && nothing_to_poll;
  r.seen = changes;
  if (in_vain && reviving_) ++r.fruitless;
  account(r, what, cost);
  if (in_vain && !reviving_ && !random_.coin(options_.chaos.spin)) {
    r.is = state::parked;
    if (!std::exchange(r.listed, true)) parked_[node_[rank]].push_back(rank);
  } else {
    schedule(rank, r.clock);
  }
  leave(r);
  if (abandoning_) throw abandoned{};
}

void scheduler::sleep(std::uint32_t rank, nanoseconds limit) {
  if (abandoning_) throw abandoned{};
  rank_state& r = ranks_[rank];
  if (limit >= 0) schedule(rank, r.clock + limit);
  r.is = state::asleep;
  leave(r);
  if (abandoning_) throw abandoned{};
}

void scheduler::compute(std::uint32_t rank, nanoseconds time) {
  if (abandoning_) return;
  rank_state& r = ranks_[rank];
  account(r, action::compute, static_cast<double>(time));
  schedule(rank, r.clock);
  leave(r);
}

void scheduler::stop(std::uint32_t rank) {
  if (abandoning_) throw abandoned{};
  rank_state& r = ranks_[rank];
  r.last = action::stop;
  r.is = state::stopped;
  leave(r);
  throw abandoned{};
}

void scheduler::at(nanoseconds when, std::function<void()> event) {
  if (abandoning_) return;
  std::uint64_t place = events_.size();
  if (free_events_.empty()) {
    events_.push_back(std::move(event));
  } else {
    place = free_events_.back();
    free_events_.pop_back();
    events_[place] = std::move(event);
  }
  push(std::max(when, now_), no_rank, place);
}

void scheduler::wake(std::uint32_t rank) {
  if (abandoning_) return;
  rank_state& r = ranks_[rank];
  ++r.arrivals;
  reviving_ = false;
  if (r.is == state::parked) schedule(rank, std::max(r.clock, now_));
  if (r.is == state::asleep)
    schedule(rank, std::max(r.clock, now_ + static_cast<nanoseconds>(options_.costs.wake)));
}

void scheduler::memory_changed(std::uint32_t node) {
  if (abandoning_) return;
  ++node_changes_[node];
  reviving_ = false;
  for (const std::uint32_t rank : parked_[node]) {
    ranks_[rank].listed = false;
    if (ranks_[rank].is == state::parked) schedule(rank, std::max(ranks_[rank].clock, now_));
  }
  parked_[node].clear();
}

std::uint64_t scheduler::version(std::uint32_t rank) const {
  return node_changes_[node_[rank]] + ranks_[rank].arrivals;
}

void scheduler::add_cost(std::uint32_t rank, double cost) {
  if (abandoning_) return;
  ranks_[rank].clock += static_cast<nanoseconds>(std::ceil(cost));
  now_ = ranks_[rank].clock;
}

void scheduler::hold_up(std::uint32_t rank, std::uint64_t after_steps, nanoseconds time) {
  ranks_[rank].held_up_at = ranks_[rank].steps + after_steps;
  ranks_[rank].held_up_for = time;
}

scheduler::nanoseconds scheduler::latest_clock() const {
  nanoseconds latest = 0;
  for (const rank_state& r : ranks_)
    latest = std::max(latest, r.clock);
  return latest;
}

void scheduler::fail(const std::string& why) {
  abandoning_ = true; // a rank's text may look at memory, but no rank runs any more
  std::string text = why + ", at " + std::to_string(now_) + " ns";
  constexpr std::uint32_t most = 64; // more than that are not read
  std::uint32_t told = 0, others = 0;
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    const rank_state& r = ranks_[rank];
    if (told == most) {
      others += r.is != state::finished ? 1 : 0;
      continue;
    }
    ++told;
    const char* is = r.is == state::ready      ? "goes on"
                     : r.is == state::parked   ? "spins"
                     : r.is == state::asleep   ? "sleeps"
                     : r.is == state::finished ? "has ended"
                                               : "was stopped";
    text += "; rank " + std::to_string(rank) + " " + is + " at " + std::to_string(r.clock) + " ns (" +
            name(r.last) + ")";
    if (r.text && r.is != state::finished) text += ": " + r.text();
  }
  if (others != 0) text += "; and " + std::to_string(others) + " more that have not ended";
  throw simulated_deadlock(text);
}

} // namespace weft::transport::sim
