// SPDX-License-Identifier: BSD-3-Clause
#include "include/upc_tick.h"

#include <chrono>

namespace weft {

upc_tick_t upc_ticks_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<upc_tick_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

uint64_t upc_ticks_to_ns(upc_tick_t ticks) {
  return ticks;
}

} // namespace weft
