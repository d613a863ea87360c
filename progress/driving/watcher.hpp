#pragma once

namespace weft::progress {

// Who watches the transport while nobody drives, and how it is rung: the progress thread.
struct watcher {
  // It blocks on the transport's events.
  virtual bool listens() const = 0;
  // Something is outstanding and nobody drives any more; `own` if no other rank can carry it.
  virtual bool wants_ring(bool own) const = 0;
  virtual void ring() = 0;

protected:
  ~watcher() = default;
};

// Told when a thread that waits goes to sleep, under progress ownership.
struct sleep_watcher {
  virtual void on_sleep() = 0;

protected:
  ~sleep_watcher() = default;
};

} // namespace weft::progress
