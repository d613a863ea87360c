#pragma once
#include "tests/soak/complete.hpp"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace soak {

// Handles that another thread of the process completes.
struct batch {
  handles open;
  unsigned style;
  dice luck;
  bool done = false; // under the lock of the helpers
};

// Threads that complete batches, one after the other.
class helpers {
public:
  explicit helpers(unsigned count) {
    for (unsigned i = 0; i < count; ++i)
      threads_.emplace_back([this] { work(); });
  }
  ~helpers() {
    {
      const std::lock_guard lock(lock_);
      over_ = true;
    }
    changed_.notify_all();
    for (std::thread& t : threads_)
      t.join();
  }
  helpers(const helpers&) = delete;
  helpers& operator=(const helpers&) = delete;

  bool any() const { return !threads_.empty(); }
  void give(std::shared_ptr<batch> b) {
    {
      const std::lock_guard lock(lock_);
      queue_.push_back(std::move(b));
    }
    changed_.notify_all();
  }
  bool is_done(const batch& b) {
    const std::lock_guard lock(lock_);
    return b.done;
  }
  void wait(const batch& b) {
    std::unique_lock lock(lock_);
    changed_.wait(lock, [&] { return b.done; });
  }

private:
  void work() {
    std::unique_lock lock(lock_);
    for (;;) {
      changed_.wait(lock, [&] { return over_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const std::shared_ptr<batch> b = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      complete(b->open, b->style, true, b->luck);
      lock.lock();
      b->done = true;
      changed_.notify_all();
    }
  }

  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<batch>> queue_;
  bool over_ = false;
  std::vector<std::thread> threads_;
};

} // namespace soak
