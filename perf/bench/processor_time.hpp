// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "perf/bench/measurements.hpp"

#include <utility>

namespace perf {

// What the threads of this process have used until now, of the system's time too.
double processor_time_us();

// Adds up what the ranks use during the spans that are measured. Where it was not asked for, nothing is
// called: reading the usage takes longer than a small call within a host.
class processor_meter {
public:
  explicit processor_meter(session& shared) : shared_(shared) {}

  void restart() { used_us_ = 0; }
  template <class F> auto during(F&& body) {
    const double before = now();
    const auto result = body();
    used_us_ += now() - before;
    return result;
  }
  // All ranks together, by the number of calls.
  void add_to(record& result, double calls);

private:
  double now() const { return shared_.settings().processor_time ? processor_time_us() : 0; }

  session& shared_;
  double used_us_ = 0;
};

} // namespace perf
