// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/shim/carrier.hpp"
#include "mpi/shim/lane.hpp"

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace weft::mpi {

namespace {

class worker {
public:
  void look_after(lane& l) {
    const std::lock_guard lock(mutex_);
    held_up_.insert(&l);
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    wakes_.notify_one();
  }
  void forget(lane& l) {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [&] { return busy_with_ != &l; });
    held_up_.erase(&l);
  }
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
      wakes_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
  }

private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wakes_.wait(lock, [this] { return over_ || !held_up_.empty(); });
      if (over_) return;
      for (lane* const l : std::vector<lane*>(held_up_.begin(), held_up_.end())) {
        // It may be held up anew as soon as this thread has seen that it is not.
        if (over_ || held_up_.erase(l) == 0) continue;
        busy_with_ = l;
        lock.unlock();
        const bool again = l->carry_one();
        lock.lock();
        busy_with_ = nullptr;
        if (again) held_up_.insert(l);
        idle_.notify_all();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable wakes_, idle_;
  std::set<lane*> held_up_;
  lane* busy_with_ = nullptr;
  bool over_ = false;
  std::thread thread_;
};

worker& the_worker() {
  static worker& one = *new worker; // a program may end with it under way
  return one;
}

} // namespace

void carrier::look_after(lane& l) {
  the_worker().look_after(l);
}
void carrier::forget(lane& l) {
  the_worker().forget(l);
}
void carrier::stop() {
  the_worker().stop();
}

} // namespace weft::mpi
