#pragma once
#include "engine/graph/verify_events.hpp"

namespace weft::graph::checking {

// Edges grouped by one of their ends.
class adjacency {
public:
  enum class end : std::uint8_t { from, to };
  adjacency(const event_graph& g, end by);
  std::span<const event_id> of(event_id e) const {
    return std::span(neighbours_).subspan(first_[e], first_[e + 1] - first_[e]);
  }

private:
  std::vector<std::uint32_t> first_;
  std::vector<event_id> neighbours_;
};

// A symbolic run: every event happens once what it needs has happened; for blocks and arrivals that is any of
// several. An `any` event waits as long as something else can still happen, so that as many as possible of
// its predecessors have happened before it.
class symbolic_run {
public:
  // Events in `dead` never happen; empty means none.
  symbolic_run(const event_graph& g, const adjacency& after, const adjacency& before, std::vector<bool> dead);

  const std::vector<event_id>& order() const { return order_; }
  bool happened(event_id e) const { return happened_[e]; }
  bool complete() const;
  // Did all predecessors of this event happen before it?
  bool saw_all(event_id e) const { return saw_all_[e]; }

  // Does a come before b, whatever happens? Behind an `any` event only what comes before all that may cause
  // it. A walk over the whole run, for the rare case that asks.
  bool precedes(event_id a, event_id b) const;

  // Members that wait for each other.
  void report_cycles(report& out) const;
  // Down to the event that nothing leads to: "a: waits for b: waits for c".
  std::string why(event_id stuck) const;

private:
  void happen(event_id e);
  event_id blocker(event_id stuck) const;

  const event_graph& graph_;
  const adjacency& after_;
  const adjacency& before_;
  std::vector<bool> dead_;
  std::vector<std::uint32_t> missing_;
  std::vector<bool> happened_, saw_all_;
  std::vector<event_id> order_, touched_;
};

// What is known at every event: whose entry, and which accesses are complete.
class knowledge {
public:
  knowledge(const event_graph& g, const adjacency& before, const symbolic_run& run);

  bool entered(event_id at, std::uint32_t member) const {
    return (entries_[std::size_t{at} * words_ + member / 64] >> (member % 64) & 1) != 0;
  }
  // The first member whose entry is not known, or nobody.
  std::uint32_t first_absent(event_id at) const;
  // Accesses whose completion nobody but the executor's own exit must know are not tracked.
  bool tracked(std::uint32_t which) const { return bit_[which] != nobody; }
  bool complete(event_id at, std::uint32_t which) const;

private:
  std::uint64_t* entries(event_id e) { return entries_.data() + std::size_t{e} * words_; }
  void number_accesses();
  void learn(event_id e);
  void learn_all(event_id e, std::span<const event_id> from);
  void learn_common(event_id e, std::span<const event_id> from);
  void learn_completions(event_id e);
  std::uint32_t fresh_set(std::uint32_t copied);

  const event_graph& graph_;
  const adjacency& before_;
  const symbolic_run& run_;
  std::size_t words_;
  std::vector<std::uint64_t> entries_;
  // Sets of complete accesses. Most events know what their only predecessor knew: they share its set. 0 is
  // empty.
  std::size_t set_words_ = 0;
  std::vector<std::uint64_t> sets_;
  std::uint32_t set_count_ = 1;
  std::vector<std::uint32_t> set_of_;
  std::vector<std::uint32_t> bit_; // by access
  std::vector<std::uint32_t> first_completion_, completed_;
};

} // namespace weft::graph::checking
