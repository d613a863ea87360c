#include "api/include/weft/synchronization_calls.h"

#include <atomic>

namespace weft {

namespace {
void nothing() {}
} // namespace

// Whatever else accesses shared memory for this thread has done so when it returns: puts are flushed. What is
// left is the order of the processor's own loads and stores, and the call keeps the compiler's.
weft_nothing_t weft_fence() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return nothing;
}

} // namespace weft
