// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <type_traits>

namespace weft::progress {

// How much of what it waits for a thread looks at. Between two sweeps a search may look at a part and go on
// next time. Before a sleep it looks at all: what it has not seen by then is slept over.
enum class look : std::uint8_t { part, all };

// What a thread waits for. Whatever asks, sweeping, parking or dozing, asks here, and a yes stays: a fact may
// therefore be a search that finds something once. It is called without an argument, or with the look. What
// it throws is an answer too, and kept until no thread drives for it any more.
template <class Fact> class latched {
public:
  // A thread that sleeps over it looks again after `nap` at the latest.
  latched(Fact& fact, std::chrono::nanoseconds nap) noexcept : fact_(fact), nap_(nap) {}
  latched(const latched&) = delete;
  latched& operator=(const latched&) = delete;

  bool holds(look how = look::part) {
    try {
      if (!known_) known_ = ask(how);
    } catch (...) {
      wrong_ = std::current_exception();
      known_ = true;
    }
    return known_;
  }
  std::chrono::nanoseconds nap() const { return nap_; }
  void rethrow() {
    if (wrong_) std::rethrow_exception(wrong_);
  }

private:
  bool ask(look how) {
    if constexpr (std::is_invocable_v<Fact&, look>)
      return fact_(how);
    else
      return fact_();
  }

  Fact& fact_;
  const std::chrono::nanoseconds nap_;
  bool known_ = false;
  std::exception_ptr wrong_;
};

// Tells the core that this is a waiting loop: it saves power and leaves the core to a sibling thread.
inline void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield" ::: "memory");
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

// How long a waiting thread stays on each rung, counted in sweeps that found nothing.
struct idle_policy {
  bool scarce =
      false; // the ranks of this host share cores: spinning would keep the awaited rank from running
  unsigned spins = 200;  // sweeps that only relax in between; none when cores are scarce
  unsigned yields = 100; // sweeps with a yield in between, before the thread sleeps
};

// The ladder that a waiting thread climbs while its sweeps find nothing: spin, then yield, then sleep.
// A value: it reads no clock, makes no system call and shares nothing. It says what to do next; the thread
// does it (cpu_relax, sched_yield, or announcing its sleep and blocking) and calls reset() when a sweep made
// progress, which puts it back on the lowest rung.
//
// With scarce cores the first rung is left out, because the rank that is waited for may need this very core.
// A thread that shares its core with a computation must not yield either (a yield beside a computing thread
// costs a scheduling slice): it gets a policy with yields = 0 and goes from the first empty sweep to sleep.
class idle_ladder {
public:
  enum class step { spin, yield, sleep };

  explicit constexpr idle_ladder(const idle_policy& policy) noexcept
      : spins_{policy.scarce ? 0 : policy.spins}, yields_{policy.yields} {}

  // What to do after one more sweep that found nothing.
  constexpr step next() noexcept {
    if (spun_ < spins_) {
      ++spun_;
      return step::spin;
    }
    if (yielded_ < yields_) {
      ++yielded_;
      return step::yield;
    }
    return step::sleep;
  }

  // Since the last reset, the one that next() has just asked for included.
  constexpr unsigned yields() const noexcept { return yielded_; }

  // Empty sweeps since the last reset.
  constexpr unsigned steps() const noexcept { return spun_ + yielded_; }

  // Waiting awake turned out to be dear.
  constexpr void skip_to_sleep() noexcept {
    spun_ = spins_;
    yielded_ = yields_;
  }

  constexpr void reset() noexcept { spun_ = yielded_ = 0; }

private:
  unsigned spins_;
  unsigned yields_;
  unsigned spun_ = 0;
  unsigned yielded_ = 0;
};

// Whether the threads of this rank yield where they wait for messages over sockets. A yield that comes back
// late has given the core to a computation, and each one would: it costs a slice of the scheduler, which
// favours a thread that wakes. So behind each late one that is tried, more waits in a row go to sleep without
// one, up to 63; the first that comes back soon ends that. Where a neighbour's store is waited for it is not
// so: a sleeper has to be rung, each time, and a neighbour that runs ahead would ring for each of many small
// operations. Any threads, all relaxed: what they take from each other is one more try.
class late_yields {
public:
  // True if it came back late.
  template <class Net> bool yield(Net& net) {
    const auto before = net.now();
    net.yield();
    const bool late = net.now() - before > std::chrono::milliseconds(1);
    came_back(late);
    return late;
  }
  // This wait goes to sleep at once.
  bool sleeps_instead() noexcept {
    const unsigned left = left_.load(std::memory_order_relaxed);
    if (left == 0) [[likely]]
      return false;
    left_.store(left - 1, std::memory_order_relaxed);
    return true;
  }
  bool last_was_late() const noexcept { return in_a_row_.load(std::memory_order_relaxed) != 0; }

private:
  void came_back(bool late) noexcept {
    constexpr unsigned most = 6;
    const unsigned row = late ? std::min(in_a_row_.load(std::memory_order_relaxed) + 1, most) : 0;
    in_a_row_.store(row, std::memory_order_relaxed);
    left_.store((1u << row) - 1, std::memory_order_relaxed);
  }

  std::atomic<unsigned> in_a_row_{0}, left_{0};
};

} // namespace weft::progress
