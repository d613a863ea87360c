// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/transport/transport.hpp"
#include "testing/simulated/network.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace weft::transport {

class simulated_transport;

// N ranks on one thread, with a virtual clock and everything that can go wrong between them decided by a
// seed: the same options give the same run, to the last operation.
class simulation {
public:
  using program = std::function<void(std::uint32_t rank, simulated_transport&)>;

  explicit simulation(simulation_options options);
  ~simulation();
  simulation(const simulation&) = delete;
  simulation& operator=(const simulation&) = delete;

  // Runs the program of every rank to its end, once. Throws what a program threw, or simulated_deadlock; the
  // objects on the stacks of the other ranks are destroyed first.
  void run(const program& p);

  std::byte* segment(std::uint32_t rank) const { return memory_.segment(rank); }
  std::chrono::nanoseconds elapsed() const { return std::chrono::nanoseconds(scheduler_.latest_clock()); }
  std::chrono::nanoseconds clock(std::uint32_t rank) const {
    return std::chrono::nanoseconds(scheduler_.clock(rank));
  }
  std::uint64_t trace_hash() const { return scheduler_.trace_hash(); }
  std::uint64_t steps() const { return scheduler_.steps(); }
  std::uint64_t rings() const { return network_.rings(); }
  std::uint64_t messages() const { return network_.messages(); }
  std::uint64_t network_bytes() const { return network_.bytes(); }

private:
  friend class simulated_transport;

  simulation_options options_;
  sim::seeded_random random_;
  sim::scheduler scheduler_;
  sim::memory memory_;
  sim::network network_;
  std::vector<simulated_transport> transports_;
};

// One rank's view of a simulation. Satisfies the transport concept; see there for what the calls mean.
class simulated_transport {
public:
  simulated_transport(simulation& s, std::uint32_t rank) : s_(&s), rank_(rank) {}

  std::uint32_t rank() const { return rank_; }
  std::uint32_t size() const { return s_->options_.ranks; }
  std::byte* segment() const { return s_->memory_.segment(rank_); }
  std::uint64_t segment_bytes() const { return s_->options_.segment_bytes; }
  std::byte* direct(std::uint32_t peer) {
    return s_->memory_.near(rank_, peer) ? s_->memory_.segment(peer) : nullptr;
  }

  started get(std::uint32_t peer, void* to, std::uint64_t offset, std::uint64_t bytes, completion& done) {
    return s_->network_.get(rank_, peer, to, offset, bytes, done);
  }
  started put(std::uint32_t peer, std::uint64_t offset, const void* from, std::uint64_t bytes,
              completion& done) {
    return s_->network_.put(rank_, peer, offset, from, bytes, done);
  }
  started flush(std::uint32_t peer, completion& done) { return s_->network_.flush(rank_, peer, done); }
  started order(std::uint32_t peer, completion& done) { return s_->network_.order(rank_, peer, done); }
  started send(std::uint32_t peer, const message& m, const void* payload, std::uint64_t bytes,
               completion& done) {
    return s_->network_.send(rank_, peer, m, payload, bytes, done);
  }
  static const char* explain(int) noexcept { return "the peer cannot be reached"; }
  unsigned poll() { return s_->network_.poll(rank_); }
  void ring(std::uint32_t peer) { s_->network_.ring(rank_, peer); }
  void set_sink(message_sink* sink) { s_->network_.set_sink(rank_, sink); }
  bool arm() { return !s_->network_.something_to_poll(rank_); }
  int event_fd() const { return -1; }

  std::uint64_t load(const std::atomic<std::uint64_t>& w) { return s_->memory_.load(rank_, w); }
  void store(std::atomic<std::uint64_t>& w, std::uint64_t value) { s_->memory_.store(rank_, w, value); }
  bool cas(std::atomic<std::uint64_t>& w, std::uint64_t& expected, std::uint64_t desired) {
    return s_->memory_.cas(rank_, w, expected, desired);
  }
  std::uint64_t add(std::atomic<std::uint64_t>& w, std::uint64_t value) {
    return s_->memory_.add(rank_, w, value);
  }
  void fence() { s_->memory_.fence(rank_); }
  void light_fence() { fence(); }
  void heavy_fence() { fence(); }
  void copy(void* to, const void* from, std::uint64_t bytes) { s_->memory_.copy(rank_, to, from, bytes); }
  template <class Value> Value peek(const void* from) {
    Value v;
    copy(&v, from, sizeof v);
    return v;
  }

  std::chrono::nanoseconds now() const { return s_->clock(rank_); }
  void relax() { idle(sim::action::relax, s_->options_.costs.relax); }
  void yield() { idle(sim::action::yield, s_->options_.costs.yield); }
  void nap(std::chrono::nanoseconds limit) { s_->network_.nap(rank_, limit.count()); }

  // Beyond the concept, for programs that play a rank's fate.

  // Computes: for so long nothing of this rank runs.
  void compute(std::chrono::nanoseconds time) { s_->scheduler_.compute(rank_, time.count()); }
  // Never runs again. The simulation ends when all others have.
  [[noreturn]] void stop() {
    s_->scheduler_.stop(rank_);
    throw sim::abandoned{};
  }
  // Holds this rank up for so long at its n-th operation from here.
  void hold_up(std::uint64_t n, std::chrono::nanoseconds time) {
    s_->scheduler_.hold_up(rank_, n, time.count());
  }
  // What this rank is doing, for the report of a deadlock.
  void describe(std::function<std::string()> text) { s_->scheduler_.describe(rank_, std::move(text)); }

private:
  void idle(sim::action what, double cost) {
    s_->scheduler_.idle(rank_, what, cost, !s_->network_.something_to_poll(rank_));
  }

  simulation* s_;
  std::uint32_t rank_;
};

static_assert(transport<simulated_transport>);

inline simulation::simulation(simulation_options options)
    : options_(std::move(options)), random_(options_.seed), scheduler_(options_, random_),
      memory_(options_, random_, scheduler_), network_(options_, random_, scheduler_, memory_) {
  transports_.reserve(options_.ranks);
  for (std::uint32_t rank = 0; rank < options_.ranks; ++rank)
    transports_.emplace_back(*this, rank);
}

inline simulation::~simulation() = default;

inline void simulation::run(const program& p) {
  scheduler_.run([this, &p](std::uint32_t rank) { p(rank, transports_[rank]); });
}

} // namespace weft::transport
