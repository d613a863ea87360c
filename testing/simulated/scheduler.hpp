// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "testing/simulated/fiber.hpp"
#include "testing/simulated/options.hpp"
#include "testing/simulated/random.hpp"

#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::transport {

// Every rank that has not ended waits for something that cannot happen any more (or the limit of steps was
// reached). The text says what each was doing.
class simulated_deadlock : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace sim {

// Thrown out of a wait of a rank that will never go on, so that its objects are destroyed. Not a
// std::exception: a program must not take it for an error of its own.
struct abandoned {};

enum class action : std::uint8_t {
  begin,
  load,
  store,
  cas,
  add,
  fence,
  copy,
  poll,
  get,
  put,
  flush,
  send,
  ring,
  relax,
  yield,
  nap,
  compute,
  stop
};

// Runs N ranks in turns on one thread, by virtual time: the rank that has the smallest clock goes on (but for
// a random burst). Chance enters as delay: a rank that is held up before an operation lets the others pass.
//
// A rank that waits in vain (relax or yield, and nothing that it could see has changed since the last time)
// is put aside until something changes, so that spinning costs no steps. That skips no interleaving: it would
// have seen what it saw before. Only the ladder from spinning to sleeping must be climbed in earnest, hence
// the chance to be left spinning, and the revival of all when nothing else is left to happen.
class scheduler {
public:
  using nanoseconds = std::int64_t;

  scheduler(const simulation_options& options, seeded_random& random);

  // Runs body(rank) for all ranks to their ends. Throws what a body threw, or simulated_deadlock.
  void run(const std::function<void(std::uint32_t)>& body);

  // Called by a running rank.
  void step(std::uint32_t rank, action what, double cost);
  void idle(std::uint32_t rank, action what, double cost, bool nothing_to_poll);
  void sleep(std::uint32_t rank, nanoseconds limit); // negative: no limit
  void compute(std::uint32_t rank, nanoseconds time);
  void stop(std::uint32_t rank);

  // Called by a running rank or an event.
  void at(nanoseconds when, std::function<void()> event);
  void wake(std::uint32_t rank); // there is something to poll, or it was rung
  void memory_changed(std::uint32_t node);
  nanoseconds now() const { return now_; } // of the rank that runs

  nanoseconds clock(std::uint32_t rank) const { return ranks_[rank].clock; }
  void add_cost(std::uint32_t rank, double cost);
  void hold_up(std::uint32_t rank, std::uint64_t after_steps, nanoseconds time);
  void describe(std::uint32_t rank, std::function<std::string()> text) {
    ranks_[rank].text = std::move(text);
  }

  // The running rank is only being unwound: do nothing, or throw `abandoned` where it waits.
  bool abandoning() const { return abandoning_; }
  void trace(std::uint64_t value) { trace_ = (trace_ ^ value) * 0x100000001b3u; }
  std::uint64_t trace_hash() const { return trace_; }
  std::uint64_t steps() const { return steps_; }
  nanoseconds latest_clock() const;

private:
  enum class state : std::uint8_t { ready, parked, asleep, finished, stopped };

  struct rank_state {
    std::unique_ptr<fiber> code;
    state is = state::ready;
    bool listed = false; // in parked_
    action last = action::begin;
    nanoseconds clock = 0;
    nanoseconds burst = 0;
    std::uint64_t turn = 0; // older entries of the queue are void
    std::uint64_t arrivals = 0;
    std::uint64_t seen = 0;      // what had changed when it last waited in vain
    std::uint64_t fruitless = 0; // its waits in vain since a revival
    std::uint64_t steps = 0;
    std::uint64_t held_up_at = 0;
    nanoseconds held_up_for = 0;
    std::function<std::string()> text;
  };

  struct entry {
    nanoseconds when;
    std::uint64_t tie;
    std::uint64_t turn; // of a rank; else the event's place
    std::uint32_t rank;
  };
  struct later {
    bool operator()(const entry& a, const entry& b) const {
      return a.when != b.when ? a.when > b.when : a.tie > b.tie;
    }
  };
  static constexpr std::uint32_t no_rank = ~std::uint32_t{0};

  void push(nanoseconds when, std::uint32_t rank, std::uint64_t turn);
  void schedule(std::uint32_t rank, nanoseconds when);
  void leave(rank_state& r); // to the scheduler and back
  void run_rank(std::uint32_t rank, nanoseconds when);
  void run_event(std::uint64_t place);
  bool revive();
  bool all_wait_in_vain() const;
  void loop();
  void abandon_all();
  void account(rank_state& r, action what, double cost);
  [[noreturn]] void fail(const std::string& why);
  std::uint64_t version(std::uint32_t rank) const;

  const simulation_options& options_;
  seeded_random& random_;
  std::vector<std::uint32_t> node_;
  std::vector<rank_state> ranks_;
  std::vector<std::uint64_t> node_changes_;
  std::vector<std::vector<std::uint32_t>> parked_; // by host; may name ranks that have left
  std::vector<entry> queue_;
  std::vector<std::function<void()>> events_;
  std::vector<std::uint64_t> free_events_;
  std::exception_ptr error_;
  nanoseconds now_ = 0;
  std::uint64_t ties_ = 0;
  std::uint64_t trace_ = 0xcbf29ce484222325u;
  std::uint64_t steps_ = 0;
  std::uint64_t abandoned_steps_ = 0;
  std::uint32_t running_ = 0; // ranks that have neither finished nor stopped
  bool reviving_ = false;
  bool abandoning_ = false;
};

} // namespace sim
} // namespace weft::transport
