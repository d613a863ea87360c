// SPDX-License-Identifier: BSD-3-Clause
// One-sided calls of different threads that touch the same bytes between two barriers are found at the second
// one, on both threads; what is in order is not. With WEFT_CHECK=1.
#include "tests/jobs/suite.h"

#include <cstdio>
#include <cstring>
#include <string>
#include <weft/weft.hpp>

namespace {

int wrong = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  ++wrong;
  std::fprintf(stderr, "thread %d: %s\n", MYTHREAD, what);
}

// What the barrier says; empty if nothing.
std::string barrier() {
  try {
    upc_barrier;
    return "";
  } catch (const weft::error& e) {
    return e.what();
  }
}
std::string split_barrier() {
  upc_notify;
  try {
    upc_wait;
    return "";
  } catch (const weft::error& e) {
    return e.what();
  }
}

bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

upc_shared_ptr_t on(upc_shared_ptr_t p, int thread, std::size_t offset = 0) {
  return {p.addr + offset, static_cast<std::uint32_t>(thread), 0};
}

} // namespace

WEFT_SUITE(overlapping_phases) {
  const auto threads = static_cast<std::size_t>(THREADS);
  const std::size_t bytes = 64 * (threads + 2);
  const upc_shared_ptr_t a = upc_all_alloc(threads, bytes), b = upc_all_alloc(threads, bytes);
  const int last = THREADS - 1;
  upc_barrier;
  for (int round = 0; round < 5; ++round) {
    // Two write the same.
    if (MYTHREAD == 0) upc_broadcast(b, on(a, 1), 64);
    if (MYTHREAD == last) upc_gather(on(b, 1), a, 64);
    const std::string both = round % 2 == 0 ? barrier() : split_barrier();
    if (MYTHREAD == 0) {
      expect(has(both, "upc_broadcast writes there, called by thread 0"), "its own call is not named");
      expect(has(both, "and upc_gather writes there, called by thread"), "the other call is not named");
    } else if (MYTHREAD == last) {
      expect(has(both, "upc_gather writes"), "the conflict is not found on the other thread");
    } else {
      expect(both.empty(), "a thread that called nothing hears of it");
    }
    // One writes what another reads.
    if (MYTHREAD == 0) upc_reduce(on(a, last, 4), on(b, 0, 64), UPC_INT, UPC_ADD);
    if (MYTHREAD == last) upc_scatter(on(b, 0, 128), on(a, last), 4);
    const std::string reads = barrier();
    if (MYTHREAD == 0)
      expect(has(reads, "upc_reduce writes") && has(reads, "upc_scatter reads"), "not found");
    // In order, or apart.
    if (MYTHREAD == 0) upc_broadcast(b, on(a, 1), 64);
    expect(barrier().empty(), "a call alone is no conflict");
    if (MYTHREAD == last) upc_gather(on(b, 1), a, 64);
    if (MYTHREAD == last) upc_broadcast(on(b, 1), 64 * threads);
    expect(barrier().empty(), "what one thread calls is in order");
    if (MYTHREAD == 0) upc_broadcast(b, on(a, 0), 32);
    if (MYTHREAD == last) upc_broadcast(on(b, 0, 32), on(a, 0), 32);
    expect(barrier().empty(), "areas that touch do not overlap; two may read the same");
  }
  return wrong == 0 ? 0 : 1;
}
