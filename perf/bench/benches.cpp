// SPDX-License-Identifier: BSD-3-Clause
#include "perf/bench/measurements.hpp"

#include <array>

namespace perf {

std::span<const bench> benches() {
  static constexpr std::array<bench, 10> all{{
      {"blocking", measure_blocking, subject::every_call},
      {"loop", measure_loop, subject::every_call},
      {"overlap", measure_overlap, subject::long_calls},
      {"pipeline", measure_pipeline, subject::long_calls},
      {"independence", measure_independence, subject::long_calls},
      {"post", measure_post, subject::every_call},
      {"completion", measure_completion, subject::small_collectives},
      {"beside", measure_beside, subject::small_exchange},
      {"skewed", measure_skewed, subject::every_exchange},
      {"idle", measure_idle, subject::process},
  }};
  return all;
}

} // namespace perf
