// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
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
  // The same a moment later, when it wakes as if it had been rung.
  virtual void unmute_soon() = 0;
  virtual bool wakes_soon() const = 0;
  // The same when no call has come for a while.
  virtual void unmute_later() = 0;
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
  // A post: nothing is to come between it and what the program does next. Not if the watcher wakes soon after
  // it whatever comes.
  void begin_post(watcher* instead_of) {
    if (!instead_of->wakes_soon()) begin(instead_of);
  }
  void end_soon() {
    if (watcher* const other = std::exchange(muted_, nullptr)) other->unmute_soon();
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
// A post that leaves something to the sleeper unmutes a moment later (soon), by a timer that wakes it: else
// it would run before the post has returned. A virtual machine makes timers dear, about as dear as a message.
//
// A call that leaves nothing behind, and comes soon after several others, unmutes when no call has come for a
// while (later). Calls often follow each other closely, and the next call takes in what comes in between.
// Woken for it, the sleeper would take the core from the thread that is about to call. Such a call makes no
// system call. When the timer has rung, and a call has just come, the sleeper sets the timer once more, each
// time for twice as long, up to eight whiles. So it seldom wakes in vain. Behind the last call it stays muted
// for as long as calls have followed each other before, and for nine whiles at most.
//
// The timer holds the count of the first thread that asked for it. It ends when the sleeper gives the count
// back, or a thread takes the timer over: one that mutes takes over a soon timer, one whose work must not
// wait a later one. The exchange of one word decides between these. A thread that sets the timer or takes it
// over has progress ownership, so they come one after the other; the sleeper only sets it once more. A timer
// that was taken over may ring in vain.
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
  // The same by a thread that makes a timer needless that rings soon. One that rings later may go on.
  void mute_instead() noexcept {
    opening due = opening::soon;
    if (due_.compare_exchange_strong(due, opening::none)) return set_timer({});
    mute();
  }
  void unmute() noexcept {
    if (muted_.fetch_sub(1) == 1) listen(true);
  }
  void unmute_soon() noexcept {
    const opening due = due_.exchange(opening::soon);
    if (due != opening::soon) set_timer(moment);
    if (due != opening::none) unmute();
  }
  void unmute_later() noexcept {
    if (calls_often() && due_.load() == opening::none) {
      due_.store(opening::later);
      return set_timer(while_);
    }
    unmute();
  }
  // Something is left to the sleeper after all.
  void not_later() noexcept {
    opening due = opening::later;
    if (due_.load(std::memory_order_relaxed) == due && due_.compare_exchange_strong(due, opening::none))
      unmute();
  }
  // The sleeper is to be awake a moment from now, and is not muted then.
  bool opens_soon() const noexcept { return due_.load(std::memory_order_relaxed) == opening::soon; }
  bool opens_later() const noexcept { return due_.load(std::memory_order_relaxed) == opening::later; }
  // By the sleeper, when it has slept. A timer that has not rung goes on.
  void woke() noexcept {
    const bool rang = drain_timer(); // also one that was set while it was taken over
    if (due_.load() == opening::later && (!rang || called_lately(std::chrono::steady_clock::now()))) {
      if (rang) stay_muted();
      return;
    }
    spell_ = while_;
    if (due_.exchange(opening::none) != opening::none) unmute();
  }

private:
  using time_point = std::chrono::steady_clock::time_point;
  enum class opening : std::uint8_t { none, soon, later };
  // A post returns in less, also where timers cost microseconds.
  static constexpr std::chrono::nanoseconds moment = std::chrono::microseconds(25);

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
  // For longer. If a post has asked for soon at this very moment, its timer may have been set before this
  // one, and the word says so; or it is set after it.
  void stay_muted() noexcept {
    spell_ = std::min(2 * spell_, 8 * while_);
    set_timer(spell_);
    if (due_.load() == opening::soon) set_timer(moment);
  }
  void listen(bool on) noexcept;
  void set_timer(std::chrono::nanoseconds until) noexcept; // 0: off
  bool drain_timer() noexcept;

  const int events_;
  const std::chrono::nanoseconds while_;
  int descriptor_ = -1, timer_ = -1;
  std::atomic<unsigned> muted_{0};
  std::atomic<opening> due_{opening::none};
  std::atomic<time_point> last_call_{}; // that left nothing behind
  unsigned close_calls_ = 0;            // behind each other; under progress ownership
  std::chrono::nanoseconds spell_;      // of the timer that rings later; the sleeper's
};

} // namespace weft::progress
