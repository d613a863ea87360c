// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

namespace weft::progress {

// The progress thread, as threads that drive see it: it watches the transport while no thread drives.
struct watcher {
  // It blocks on the transport's events.
  virtual bool listens() const = 0;
  // Something is outstanding and no thread drives any more; `own` if no other rank can carry it.
  virtual bool wants_ring(bool own) const = 0;
  virtual void ring() = 0;
  // The transport's events do not wake it until all threads that muted it have unmuted it. Any thread.
  virtual void mute() = 0;
  virtual void unmute() = 0;
  // The same when no call has come for a while.
  virtual void unmute_later() = 0;
  // And for a call that has not muted it, if calls follow each other.
  virtual void mute_for_a_while() = 0;
  virtual bool wakes_later() const = 0;
  // But something is to be heard at once. Under progress ownership.
  virtual void not_later() = 0;

protected:
  ~watcher() = default;
};

// An application thread polls the transport itself, or sleeps on its events: what comes is to wake no
// other thread.
class listening_alone {
public:
  listening_alone() = default;
  ~listening_alone() { end(); }
  listening_alone(const listening_alone&) = delete;
  listening_alone& operator=(const listening_alone&) = delete;

  // Under progress ownership, so it stays where it is.
  void begin(watcher* instead_of) {
    if (muted_ != nullptr || instead_of == nullptr) return;
    muted_ = instead_of;
    muted_->mute();
  }
  // A call that leaves nothing behind, or leaves `outstanding` to the other.
  void end_call(bool outstanding) {
    watcher* const other = std::exchange(muted_, nullptr);
    if (other == nullptr) return;
    if (!outstanding) return other->unmute_later();
    other->not_later();
    other->unmute();
  }
  void end() {
    if (watcher* const other = std::exchange(muted_, nullptr)) other->unmute();
  }

private:
  watcher* muted_ = nullptr;
};

// Told when a thread that waits goes to sleep, under progress ownership.
struct sleep_watcher {
  virtual void on_sleep() = 0;

protected:
  ~sleep_watcher() = default;
};

// A descriptor of events that can be muted while the progress thread sleeps on it. Without one a message
// would wake the progress thread although a thread of the application is polling for it: a switch of tasks
// for each message of a blocking call, on the very core that the call needs.
//
// Muted as often as it is unmuted, by any threads. Each thread changes the count in one step, and mutes
// before it unmutes. So the thread that counts back to zero, and opens the gate, comes after all that have
// shut it. What has come meanwhile wakes the sleeper then: the events are those of a level, not of an edge.
//
// A call that leaves nothing behind, and comes soon after several others, unmutes when no call has come for a
// while (later). Calls often follow each other closely, and the next call takes in what comes in between.
// Woken for it, the sleeper would take the core from the thread that is about to call. Such a call makes no
// system call. A test that completes the last operation has not muted it, and does so then, for as long. When
// the timer has rung, and a call has just come, the sleeper sets the timer once more, each time for twice as
// long, up to eight whiles. So it seldom wakes in vain. Behind the last call it stays muted for as long as
// calls have followed each other before, and for nine whiles at most.
//
// The timer holds the count of the first thread that asked for it. It ends when the sleeper gives the count
// back, or a thread whose work must not wait does. The exchange of one word decides between these. A thread
// that sets the timer has progress ownership; the sleeper only sets it once more. A timer whose count was
// given back rings in vain.
class event_gate {
public:
  // Most calls of a phase of communication follow each other in less.
  static constexpr std::chrono::nanoseconds usual_while = std::chrono::microseconds(500);

  // Of a transport's descriptor, open; of none (-1) a gate that does nothing. Eight whiles are less than a
  // second.
  // Throws std::system_error when the process is out of descriptors.
  explicit event_gate(int events, std::chrono::nanoseconds a_while = usual_while);
  ~event_gate();
  event_gate(const event_gate&) = delete;
  event_gate& operator=(const event_gate&) = delete;

  int fd() const noexcept { return descriptor_; }
  void mute() noexcept {
    if (muted_.fetch_add(1) == 0) listen(false);
  }
  // The same by the sleeper, before it waits for something else: a thread that has muted it before may not
  // have come so far as to tell the kernel.
  void mute_for_myself() noexcept {
    muted_.fetch_add(1);
    listen(false);
  }
  void unmute() noexcept {
    if (muted_.fetch_sub(1) == 1) listen(true);
  }
  void unmute_later() noexcept { calls_often() ? leave_to_timer() : unmute(); }
  void mute_for_a_while() noexcept {
    if (!calls_often()) return;
    mute();
    leave_to_timer();
  }
  // Something is left to the sleeper after all.
  void not_later() noexcept {
    if (opens_later() && due_.exchange(false)) unmute();
  }
  bool opens_later() const noexcept { return due_.load(std::memory_order_relaxed); }
  // By the sleeper, when it has slept. A timer that has not rung goes on.
  void woke() noexcept {
    const bool rang = drain_timer(); // also one whose count was given back
    if (due_.load() && (!rang || called_lately(std::chrono::steady_clock::now()))) {
      if (rang) stay_muted();
      return;
    }
    spell_ = while_;
    if (due_.exchange(false)) unmute();
  }

private:
  using time_point = std::chrono::steady_clock::time_point;

  // The timer costs as much as a call or two: where calls are few it would cost more than it saves.
  static constexpr unsigned several = 8;
  bool calls_often() noexcept {
    const time_point now = std::chrono::steady_clock::now();
    close_calls_ = called_lately(now) ? close_calls_ + 1 : 0;
    last_call_.store(now, std::memory_order_relaxed);
    return close_calls_ >= several;
  }
  bool called_lately(time_point now) const noexcept {
    return now - last_call_.load(std::memory_order_relaxed) < while_;
  }
  void leave_to_timer() noexcept {
    if (due_.exchange(true)) return unmute();
    set_timer(while_);
  }
  void stay_muted() noexcept { set_timer(spell_ = std::min(2 * spell_, 8 * while_)); }
  void listen(bool on) noexcept;
  void set_timer(std::chrono::nanoseconds until) noexcept;
  bool drain_timer() noexcept;

  const int events_;
  const std::chrono::nanoseconds while_;
  int descriptor_ = -1, timer_ = -1;
  std::atomic<unsigned> muted_{0};
  std::atomic<bool> due_{false};        // the timer holds a count
  std::atomic<time_point> last_call_{}; // that left nothing behind
  unsigned close_calls_ = 0;            // behind each other; under progress ownership
  std::chrono::nanoseconds spell_;      // of the timer that rings later; the sleeper's
};

} // namespace weft::progress
