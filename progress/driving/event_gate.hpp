#pragma once

#include <atomic>

namespace weft::progress {

// A descriptor of events that can be muted while somebody sleeps on it. Without one a message would wake the
// progress thread although a thread of the application is polling for it: a switch of tasks for each message
// of a blocking call, on the very core that the call needs.
//
// Muted as often as it is unmuted, by any threads. Each goes from one count to the next in one step, and
// mutes before it unmutes; so the one who counts back to zero, and opens, comes after all who have shut it.
// What has come meanwhile wakes the sleeper then: the events are those of a level, not of an edge.
//
// What a post leaves to the sleeper it does a moment later, woken by a timer: woken at once it would run
// before the post has returned, wherever both share a core. The timer is set for the first who asks, until
// the sleeper has woken, or somebody who drives takes it back. Both of these have progress ownership, so they
// come one after the other; the sleeper only reads the timer and clears the word, before it looks for what
// was left to it. One that was woken by something else may hear the timer later, for nothing.
class event_gate {
public:
  // Of a transport's descriptor, open; of none (-1) a gate that does nothing. Throws std::system_error when
  // the process is out of descriptors.
  explicit event_gate(int events);
  ~event_gate();
  event_gate(const event_gate&) = delete;
  event_gate& operator=(const event_gate&) = delete;

  int fd() const noexcept { return descriptor_; }
  void mute() noexcept {
    if (muted_.fetch_add(1) == 0) listen(false);
  }
  void unmute() noexcept {
    if (muted_.fetch_sub(1) == 1) listen(true);
  }
  // The sleeper is awake a moment from now, muted or not.
  void wake_soon() noexcept {
    if (!soon_.exchange(true)) set_timer(true);
  }
  // By somebody who does now what the sleeper was to do.
  void wake_no_more() noexcept {
    if (soon_.exchange(false)) set_timer(false);
  }
  bool wakes_soon() const noexcept { return soon_.load(std::memory_order_relaxed); }
  // By the sleeper, when it has slept.
  void woke() noexcept {
    drain_timer(); // also of one that was set while it was taken back
    soon_.store(false);
  }

private:
  void listen(bool on) noexcept;
  void set_timer(bool on) noexcept;
  void drain_timer() noexcept;

  const int events_;
  int descriptor_ = -1, timer_ = -1;
  std::atomic<unsigned> muted_{0};
  std::atomic<bool> soon_{false};
};

} // namespace weft::progress
