#pragma once

#include <cstddef>
#include <span>

namespace perf {

class backend;

// Where the ranks of one machine meet outside of the library under measurement: a barrier that aligns them
// before a timed span, one in which they sleep, and a maximum over the ranks. Being the driver's own, it is
// the same for every library: its exit skew, which ends up in every figure, favours none of them.
//
// Lifetime: the shared segment has no name any more when the constructor returns, so nothing is left behind
// however the job ends.
class meeting {
public:
  explicit meeting(backend& library);
  ~meeting();
  meeting(const meeting&) = delete;
  meeting& operator=(const meeting&) = delete;

  // Waits for all ranks as quickly as the cores allow: spinning, or yielding where ranks share a core.
  void align();
  // Waits for all ranks asleep: for those who must not disturb a rank that computes on their core.
  void rest();
  // Replaces every value by its maximum over the ranks.
  void maximum(std::span<double> values);
  double maximum(double value);

private:
  struct shared_state;
  static constexpr std::size_t chunk = 512;

  double* row(int rank) const;
  std::size_t segment_bytes() const;

  int rank_;
  int size_;
  bool share_cores_;
  shared_state* state_ = nullptr;
};

} // namespace perf
