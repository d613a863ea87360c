#include "api/include/weft/synchronization_calls.h"
#include "engine/memory/full_fence.hpp"

namespace weft {

namespace {
void nothing() {}
} // namespace

// Whatever else accesses shared memory for this thread has done so when it returns: puts are flushed. What is
// left is the order of the processor's own loads and stores, and the call keeps the compiler's.
weft_nothing_t weft_fence() {
  engine::full_fence();
  return nothing;
}

} // namespace weft
