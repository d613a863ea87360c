// SPDX-License-Identifier: BSD-3-Clause
#pragma once
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

} // namespace weft::progress
