// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <atomic>

namespace weft::engine {

// A full fence. GCC's ThreadSanitizer does not model it and says so, which is harmless here: all words that
// the fence orders are atomic.
inline void full_fence() noexcept {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan"
#endif
  std::atomic_thread_fence(std::memory_order_seq_cst);
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
}

} // namespace weft::engine
