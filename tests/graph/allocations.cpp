// SPDX-License-Identifier: BSD-3-Clause
// The program's operator new, counting. In a file of its own, so that the compiler does not inline one half
// of the pair into its callers and warn of the other.
#include "tests/graph/allocations.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::size_t> count{0};
}

void* operator new(std::size_t bytes) {
  count.fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(bytes == 0 ? 1 : bytes)) return p;
  throw std::bad_alloc();
}
// What new gives is from malloc, which GCC does not see where it inlines one of the two only.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}

namespace weft::graph {
std::size_t allocations() {
  return count.load(std::memory_order_relaxed);
}
} // namespace weft::graph
