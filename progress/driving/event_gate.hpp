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
// A post unmutes a moment later, by a timer that wakes the sleeper: else what has come during the post, and
// what the post has left to the sleeper, would run before the post has returned. The timer has the count of
// the first who asked for it, until the sleeper gives it back, or somebody who mutes takes it over; the
// exchange of one word decides between these. Who sets the timer and who takes it over has progress
// ownership, so they come one after the other; the sleeper only reads it.
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
  // The same by somebody who makes the timer needless.
  void mute_instead() noexcept {
    if (soon_.exchange(false)) return set_timer(false);
    mute();
  }
  void unmute() noexcept {
    if (muted_.fetch_sub(1) == 1) listen(true);
  }
  void unmute_soon() noexcept {
    if (soon_.exchange(true)) return unmute();
    set_timer(true);
  }
  // The sleeper is to be awake a moment from now, and is not muted then.
  bool opens_soon() const noexcept { return soon_.load(std::memory_order_relaxed); }
  // By the sleeper, when it has slept.
  void woke() noexcept {
    drain_timer(); // also of one that was set while it was taken over
    if (soon_.exchange(false)) unmute();
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
