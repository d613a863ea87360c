// SPDX-License-Identifier: BSD-3-Clause
// The process's operator new, of which calls fail as it was told. In a file of its own,
// so that the compiler does not inline one half of the pair into its callers and warn of the other.
#include "tests/shortage/failing_new.hpp"

#include <atomic>
#include <cstdlib>
#include <new>
#include <utility>

namespace {
std::atomic<long> left{0};
std::atomic<bool> first_of_threads{false};
thread_local bool may_fail = true;

bool fails() {
  if (left.load(std::memory_order_relaxed) > 0 && left.fetch_sub(1, std::memory_order_relaxed) == 1)
    return true;
  return first_of_threads.load(std::memory_order_relaxed) && std::exchange(may_fail, false);
}
} // namespace

void* operator new(std::size_t bytes) {
  if (fails()) throw std::bad_alloc();
  if (void* p = std::malloc(bytes == 0 ? 1 : bytes)) return p;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
// What new gives is from malloc, which GCC does not see where it inlines one of the two only.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}

namespace shortage {
void fail_allocation(long n) {
  left.store(n);
}
void fail_first_of_other_threads() {
  may_fail = false;
  first_of_threads.store(true);
}
bool has_failed() {
  return left.load() <= 0;
}
} // namespace shortage
