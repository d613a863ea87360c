// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/completing.hpp"

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <sched.h>
#include <thread>

namespace calls {

// Handles that another thread of the process completes.
struct batch {
  handles open;
  dice luck;
  const char* wrong = nullptr;
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
  static void complete(batch& b) {
    completing calls(b.luck);
    for (unsigned long long& h : b.open)
      for (bool tried = false; h != 0; tried = true) {
        if (tried && b.luck.chance(60)) sched_yield();
        b.luck.chance(30) ? calls.all(b.open, b.luck.chance(50)) : calls.one(h);
      }
    b.wrong = calls.wrong();
  }
  void work() {
    std::unique_lock lock(lock_);
    for (;;) {
      changed_.wait(lock, [&] { return over_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const std::shared_ptr<batch> b = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      complete(*b);
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

} // namespace calls
