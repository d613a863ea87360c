// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "progress/driving/idle.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace weft::testing {

// Threads of a stress test wait like this: a short spin, and then the core goes to another thread.
class patience {
public:
  void wait() {
    if (ladder_.next() == progress::idle_ladder::step::spin) {
      progress::cpu_relax();
    } else {
      std::this_thread::yield();
    }
  }

private:
  progress::idle_ladder ladder_{progress::idle_policy{.scarce = false, .spins = 500, .yields = 0}};
};

// Where threads meet again and again; spins, so that they leave it as nearly together as can be.
class meeting_point {
public:
  explicit meeting_point(unsigned threads) : threads_{threads} {}

  void arrive() {
    const unsigned round = round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == threads_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    for (patience waiting; round_.load(std::memory_order_acquire) == round;)
      waiting.wait();
  }

private:
  const unsigned threads_;
  alignas(64) std::atomic<unsigned> arrived_{0};
  alignas(64) std::atomic<unsigned> round_{0};
};

// Runs body(0) ... body(threads - 1), each in a thread of its own, all started before the first goes ahead.
template <class Body> void run_together(unsigned threads, const Body& body) {
  meeting_point start{threads};
  std::vector<std::thread> crew;
  for (unsigned me = 0; me < threads; ++me) {
    crew.emplace_back([&, me] {
      start.arrive();
      body(me);
    });
  }
  for (std::thread& each : crew)
    each.join();
}

// Rounds in lock-step cost a scheduling slice each when other programs use the cores. Tests that want many
// stop after this long with as many as they got.
class rounds_budget {
public:
  bool spent() const { return std::chrono::steady_clock::now() > end_; }

private:
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + std::chrono::seconds{1};
};

// What a broken protocol turns into a hang becomes a failed expectation after this long. No test gets
// anywhere near it otherwise.
class deadline {
public:
  static constexpr std::chrono::seconds patience_limit{20};

  bool expired() const { return std::chrono::steady_clock::now() > end_; }

private:
  std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + patience_limit;
};

// Waits until `done()`; false when the deadline passed before.
template <class Condition> bool wait_until(const Condition& done) {
  const deadline limit;
  patience waiting;
  for (unsigned tries = 1; !done(); ++tries) {
    if (tries % 256 == 0 && limit.expired()) return false;
    waiting.wait();
  }
  return true;
}

} // namespace weft::testing
