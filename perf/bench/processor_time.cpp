// SPDX-License-Identifier: BSD-3-Clause
#include "perf/bench/processor_time.hpp"

#include <sys/resource.h>

namespace perf {

double processor_time_us() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

void processor_meter::add_to(record& result, double calls) {
  if (!shared_.settings().processor_time) return;
  result.figures.emplace_back("cpu_us", shared_.ranks().sum(used_us_) / calls);
}

} // namespace perf
