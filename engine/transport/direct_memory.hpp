// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/memory/copy.hpp"
#include "engine/memory/full_fence.hpp"

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft::transport {

// The memory operations of a transport whose near peers are reached by real loads and stores, as a base
// class.
//
// Words are atomics. What a rank wrote before it stores (or swaps, or adds to) a word is there for any rank
// that loads the new value. `add` and `fence` are also sequentially consistent: of two ranks that each store,
// fence and then load what the other stored, at least one sees it.
//
// Bytes between words are plain memory: a copy must be ordered by words on both sides, and ThreadSanitizer
// sees it where all ranks are in one process.
class direct_memory {
public:
  std::uint64_t load(const std::atomic<std::uint64_t>& w) const { return w.load(std::memory_order_acquire); }
  void store(std::atomic<std::uint64_t>& w, std::uint64_t value) {
    w.store(value, std::memory_order_release);
  }
  bool cas(std::atomic<std::uint64_t>& w, std::uint64_t& expected, std::uint64_t desired) {
    return w.compare_exchange_weak(expected, desired, std::memory_order_acq_rel, std::memory_order_acquire);
  }
  std::uint64_t add(std::atomic<std::uint64_t>& w, std::uint64_t value) {
    return w.fetch_add(value, std::memory_order_seq_cst);
  }
  void fence() { engine::full_fence(); }

  // The two halves of Dekker's pattern where one side is hot and the other goes to sleep. With asymmetric
  // fences the hot side only keeps the compiler from reordering, and the sleeper makes every core that runs a
  // process of the job execute a full fence (a system call of microseconds; a core that switched tasks has
  // fenced anyway).
  void light_fence() {
    if (asymmetric_)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    else
      fence();
  }
  void heavy_fence() {
    fence();
    if (asymmetric_) syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
  }

  void copy(void* to, const void* from, std::uint64_t bytes) { engine::copy_bytes(to, from, bytes); }

  // Bytes that their owner may be changing meanwhile: the caller learns by a word whether what it read is
  // good. That is all that ThreadSanitizer would find here.
  template <class Value> [[gnu::no_sanitize_thread]] Value peek(const void* from) const {
    using word [[gnu::may_alias]] = const volatile std::uint32_t;
    static_assert(sizeof(Value) % sizeof(word) == 0);
    struct {
      std::uint32_t words[sizeof(Value) / sizeof(word)];
    } read;
    for (std::size_t k = 0; k < std::size(read.words); ++k)
      read.words[k] = static_cast<word*>(from)[k];
    return std::bit_cast<Value>(read);
  }

  void relax() const {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
  void yield() const {
    sched_yield();
  }
  std::chrono::nanoseconds now() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::steady_clock::now().time_since_epoch());
  }

protected:
  // Lets other processes' heavy fences reach this one. Light fences stay full ones on a kernel without them;
  // all processes of a host run on the same kernel.
  void use_asymmetric_fences() {
    asymmetric_ = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
  }

private:
  bool asymmetric_ = false;
};

} // namespace weft::transport
