#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

namespace weft::progress {

// The right to drive an engine: its transport, its executor, the consumer side of its submission queue.
// At most one thread holds it; nothing that it protects needs a lock or an atomic of its own.
//
// Words and who writes them
//   held_     false -> true by the thread that wins try_acquire(), true -> false by that thread in release()
//   wanted_   number of application threads that are waiting for the baton; each adds and removes itself
//
// Orders
//   release() stores with release and the winning exchange of try_acquire() loads with acquire: everything
//   that one owner did happens before everything that the next owner does.
//   wanted_ carries no data, it is a hint that has to become visible some time: relaxed.
//
// Hand-over
//   An application thread that wants the baton adds itself with request(), tries until it has it, and
//   removes itself with withdraw() when it no longer wants to drive. The dedicated thread reads requested()
//   between two sweeps, releases, and stays away while it is true. It never preempts: an owner lets go by
//   itself. Nobody may sleep while holding the baton, else a request would wait for the sleeper.
//
// What release() is not
//   It is a plain store on x86, not a fence: an owner that looks into the submission queue, finds nothing and
//   then releases can miss an item pushed in between by a thread that failed to acquire. An owner that leaves
//   nobody behind marks the queue inactive *before* it releases (see submission_queue.hpp); the producer
//   that finds the mark is then told to find a driver.
//
// Lifetime: the baton outlives every thread that may touch it. Destroying it while held is an error.
// One cache line of its own, so that waiting threads disturb nobody else's data.
class alignas(64) baton {
public:
  baton() = default;
  baton(const baton&) = delete;
  baton& operator=(const baton&) = delete;

  // Tests before it exchanges: a crowd of waiting threads shares the line and does not steal it.
  bool try_acquire() noexcept {
    if (held_.load(std::memory_order_relaxed)) return false;
    return !held_.exchange(true, std::memory_order_acquire);
  }

  void release() noexcept { held_.store(false, std::memory_order_release); }

  // A hint: the answer may be old when it arrives.
  bool held() const noexcept { return held_.load(std::memory_order_relaxed); }

  void request() noexcept { wanted_.fetch_add(1, std::memory_order_relaxed); }
  void withdraw() noexcept { wanted_.fetch_sub(1, std::memory_order_relaxed); }
  bool requested() const noexcept { return wanted_.load(std::memory_order_relaxed) != 0; }

private:
  std::atomic<bool> held_{false};
  std::atomic<std::uint32_t> wanted_{0};
};

// A held baton that is released at the end of the scope. Empty when the baton was not to be had.
class [[nodiscard]] held_baton {
public:
  held_baton() = default;
  static held_baton try_acquire(baton& which) noexcept {
    return which.try_acquire() ? held_baton{which} : held_baton{};
  }

  held_baton(held_baton&& other) noexcept : baton_{std::exchange(other.baton_, nullptr)} {}
  held_baton& operator=(held_baton&& other) noexcept {
    if (this != &other) {
      release();
      baton_ = std::exchange(other.baton_, nullptr);
    }
    return *this;
  }
  ~held_baton() { release(); }

  explicit operator bool() const noexcept { return baton_ != nullptr; }

  void release() noexcept {
    if (baton_ != nullptr) std::exchange(baton_, nullptr)->release();
  }

private:
  explicit held_baton(baton& which) noexcept : baton_{&which} {}

  baton* baton_ = nullptr;
};

// A wish for the baton, raised and dropped as its owner goes; withdrawn at the end of the scope.
class [[nodiscard]] baton_request {
public:
  explicit baton_request(baton& which, bool raised = true) noexcept : baton_{which} { set(raised); }
  ~baton_request() { set(false); }
  baton_request(const baton_request&) = delete;
  baton_request& operator=(const baton_request&) = delete;

  void set(bool raised) noexcept {
    if (raised == raised_) return;
    raised_ = raised;
    raised ? baton_.request() : baton_.withdraw();
  }

private:
  baton& baton_;
  bool raised_ = false;
};

} // namespace weft::progress
