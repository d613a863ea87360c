#include "perf/bench/measurements.hpp"

#include <array>

namespace perf {

std::span<const bench> benches() {
  static constexpr std::array<bench, 7> all{{
      {"blocking", measure_blocking, false, false},
      {"loop", measure_loop, false, false},
      {"overlap", measure_overlap, true, false},
      {"pipeline", measure_pipeline, true, false},
      {"independence", measure_independence, true, false},
      {"post", measure_post, false, false},
      {"idle", measure_idle, false, true},
  }};
  return all;
}

} // namespace perf
