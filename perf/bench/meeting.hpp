// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <sched.h>
#include <span>
#include <string>

namespace perf {

class backend;

// Where the ranks meet outside of the library under measurement: a barrier that aligns them before a timed
// span, one in which they sleep, and a maximum over the ranks. Being the driver's own, it is the same for
// every library: its exit skew, which ends up in every figure, favours none of them.
class meeting {
public:
  virtual ~meeting() = default;
  meeting(const meeting&) = delete;
  meeting& operator=(const meeting&) = delete;

  // Waits for all ranks as quickly as the cores allow: spinning, or yielding where ranks share a core.
  virtual void align() = 0;
  // Waits for all ranks asleep: for those who must not disturb a rank that computes on their core.
  virtual void rest() = 0;
  // Replaces every value by its maximum over the ranks.
  virtual void maximum(std::span<double> values) = 0;

  double maximum(double value);
  // The sum over the ranks of values that are not negative.
  double sum(double value);

  int rank() const { return rank_; }
  int size() const { return size_; }

protected:
  meeting(int rank, int size);
  // What a rank does between two looks for the others.
  void relax() const {
    if (share_cores_) {
      sched_yield();
    } else {
      __builtin_ia32_pause();
    }
  }

private:
  int rank_;
  int size_;
  bool share_cores_;
};

// Of ranks that share memory. The segment has no name any more when this returns, so nothing is left behind
// however the job ends.
std::unique_ptr<meeting> meet_in_memory(backend& library);

// Of ranks on several hosts: a star of TCP connections around rank 0, which listens at `address`, HOST:PORT.
std::unique_ptr<meeting> meet_over_sockets(int rank, int size, const std::string& address);

} // namespace perf
