// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/operations/operation_kind.hpp"
#include "progress/execution/channel.hpp"
#include "progress/execution/operation_pool.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

namespace weft::progress {

// What one rank has done and waited for, if WEFT_TRACE, WEFT_STATISTICS or WEFT_CHECK ask: the newest events,
// in memory that does not grow, sums for each call, and the flight: when its last operations began and ended,
// which a report of waits tells.
//
// Protocol. The thread that holds progress ownership notes what operations do (entered, stepped, ended); a
// thread of the program notes its waits, with and without ownership. A writer draws its place by a fetch_add
// and has it for itself until the ring has come round. The ring is read when all threads have left the
// library, the flight under progress ownership.
class recorder {
public:
  enum class happening : std::uint8_t {
    entered, // this rank posted the operation, or began the blocking call
    stepped, // a step of its plan went on: `kind`, `result`, and which rank it was about
    ended,   // it is over here
    waiting, // a thread of the program began to wait
    waited,  // and went on
  };
  struct event {
    std::uint64_t at = 0; // nanoseconds
    std::uint64_t bytes = 0;
    std::uint32_t team = 0, number = 0; // of the operation in its team
    std::uint32_t peer = 0;             // rank of the job
    happening what = happening::entered;
    std::uint8_t by = 0; // of a step its kind
    collectives::operation op = collectives::operation::barrier;
    bool blocking = false;
  };
  // Of the calls of one name.
  struct sum {
    std::uint64_t calls = 0, bytes = 0, waited = 0, longest = 0; // nanoseconds
  };
  static constexpr std::size_t callers = 32, operations = 32;
  using sums = std::array<sum, callers * operations>;

  static constexpr std::size_t flight_events = 1000;

  explicit recorder(std::size_t events) : ring_(events) {}

  [[gnu::cold, gnu::noinline]] void entered(const operation& op) { note(happening::entered, op); }
  void stepped(const operation& op, graph::kind kind, std::uint32_t peer) {
    event e = of(happening::stepped, op);
    e.by = static_cast<std::uint8_t>(kind);
    const weft::engine::team_info& team = op.channel->info;
    e.peer = team.world[peer < team.size() ? peer : team.me()]; // a row may not have said yet of which member
    put(e);
  }
  [[gnu::cold, gnu::noinline]] void ended(const operation& op) {
    const collectives::request& key = static_cast<const posted&>(op).key;
    last_.store(place_of(key), std::memory_order_relaxed);
    sum& s = sums_[place_of(key)];
    ++s.calls;
    s.bytes += key.bytes;
    note(happening::ended, op);
  }
  [[gnu::cold, gnu::noinline]] std::uint64_t waiting() {
    const std::uint64_t at = now();
    put({.at = at, .what = happening::waiting});
    return at;
  }
  // The wait belongs to the operation that ended last.
  [[gnu::cold, gnu::noinline]] void waited(std::uint64_t since) {
    const std::uint64_t at = now(), time = at - since;
    put({.at = at, .what = happening::waited});
    sum& s = sums_[last_.load(std::memory_order_relaxed)];
    std::atomic_ref(s.waited).fetch_add(time, std::memory_order_relaxed);
    std::atomic_ref longest(s.longest);
    for (std::uint64_t seen = longest.load(std::memory_order_relaxed); seen < time;)
      if (longest.compare_exchange_weak(seen, time, std::memory_order_relaxed)) break;
  }

  static std::uint64_t now() {
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  }

  const sums& by_call() const { return sums_; }
  // From the oldest that is kept to the newest, and how many came before that.
  std::vector<event> events() const {
    const std::uint64_t end = next_.load(std::memory_order_relaxed),
                        kept = std::min<std::uint64_t>(end, ring_.size());
    std::vector<event> all;
    for (std::uint64_t k = end - kept; k != end; ++k)
      all.push_back(ring_[k % ring_.size()]);
    return all;
  }
  // Of operations alone, the newest first. Under progress ownership.
  std::vector<event> flight() const {
    std::vector<event> all;
    for (std::size_t k = 0; k != std::min(flown_, flight_events); ++k)
      all.push_back(flight_[(flown_ - 1 - k) % flight_events]);
    return all;
  }
  std::uint64_t lost() const {
    const std::uint64_t end = next_.load(std::memory_order_relaxed);
    return end > ring_.size() ? end - ring_.size() : 0;
  }
  void stop() { stopped_.store(true, std::memory_order_relaxed); }

  static std::size_t place_of(const collectives::request& r) {
    return static_cast<std::size_t>(r.by) * operations + static_cast<std::size_t>(r.op);
  }

private:
  event of(happening what, const operation& op) const {
    const collectives::request& key = static_cast<const posted&>(op).key;
    return {.at = now(),
            .bytes = key.bytes,
            .team = op.channel->info.id,
            .number = static_cast<std::uint32_t>(op.seq),
            .what = what,
            .by = static_cast<std::uint8_t>(key.by),
            .op = key.op,
            .blocking = op.handle == 0};
  }
  void note(happening what, const operation& op) {
    const event e = of(what, op);
    flight_[flown_++ % flight_events] = e;
    put(e);
  }
  void put(const event& e) {
    if (ring_.empty() || stopped_.load(std::memory_order_relaxed)) return;
    ring_[next_.fetch_add(1, std::memory_order_relaxed) % ring_.size()] = e;
  }

  std::vector<event> ring_; // empty: sums and the flight only
  std::vector<event> flight_ = std::vector<event>(flight_events);
  std::size_t flown_ = 0;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<bool> stopped_{false};
  std::atomic<std::size_t> last_{0};
  sums sums_{};
};

} // namespace weft::progress
