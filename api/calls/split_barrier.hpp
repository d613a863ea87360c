// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/checks/checks.hpp"

#include <atomic>

namespace weft::api {

// Whether this thread is between upc_notify and upc_wait. Application threads of one process that share a
// barrier order their calls themselves; the flag is atomic only so that a call of another thread may look at
// it.
extern std::atomic<bool> barrier_is_split;

[[gnu::always_inline]] inline void require_no_split_barrier(const char* call) {
  require_outside_user_code(call);
  if (barrier_is_split.load(std::memory_order_relaxed)) [[unlikely]]
    fail(call, "", "",
         "must not be called between upc_notify and upc_wait: call upc_wait first, or do it before "
         "upc_notify");
}

// Forgets a barrier that was begun and not ended: the job is over.
void abandon_split_barrier() noexcept;

} // namespace weft::api
