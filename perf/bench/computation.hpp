// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

namespace perf {

// The computation that is overlapped with communication: a dependent chain of loads, multiplications and
// stores over a table that fits in the first-level cache, so that a core taken away by another process shows
// as time.
class computation {
public:
  computation();

  // Nanoseconds of one step on a quiet core. Ranks agree on one value, so that all compute the same amount.
  double measure_step_ns();
  void set_step_ns(double ns) { step_ns_ = ns; }
  std::uint64_t steps_for(double us) const { return static_cast<std::uint64_t>(us * 1000.0 / step_ns_); }

  void run(std::uint64_t steps);
  // Keeps the compiler from dropping the work.
  std::uint64_t result() const { return value_; }

private:
  static constexpr std::size_t entries = 1024;
  std::array<std::uint64_t, entries> table_{};
  std::uint64_t value_ = 1;
  double step_ns_ = 1.0;
};

} // namespace perf
