// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/checks/failure.hpp"
#include "api/runtime/runtime.hpp"
#include "include/weft/job.h"
#include "include/weft/pointer.h"
#include "progress/execution/user_code.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weft::api::block_check {

// Checked mode: what a call touches lies within one block that is allocated, not just within the heap.
extern bool on;

// The bytes at p, which are in the heap, on p's thread or at this place on all. Asks the thread
// that keeps the books, and waits for the answer. No bytes lie anywhere.
[[gnu::cold, gnu::noinline]] void require_one_block(const runtime& rt, const char* call, const char* argument,
                                                    upc_shared_ptr_t p, engine::checked bytes);

} // namespace weft::api::block_check

// What every call knows of its arguments before anything is sent. Each check is a branch or two when it
// passes.
namespace weft::api {

using engine::checked;

[[noreturn, gnu::cold, gnu::noinline]] void fail_in_user_code(const char* call);

// Whatever waits, or begins something, is no business of a function that an operation calls.
inline void require_outside_user_code(const char* call) {
  if (progress::running_user_code) [[unlikely]]
    fail_in_user_code(call);
}

inline void require_not_null(const char* call, const char* argument, upc_shared_ptr_t p) {
  if (upc_isnull(p)) [[unlikely]]
    fail_pointer(call, argument, p,
                 "must not be null: pass memory from upc_all_alloc or a shared array, after "
                 "weft_init");
}

// Of a call that ordinary memory is no operand of.
[[noreturn, gnu::cold, gnu::noinline]] void fail_ordinary_pointer(const char* call, const char* argument,
                                                                  upc_shared_ptr_t p);
[[noreturn, gnu::cold, gnu::noinline]] void fail_first(const char* call, const char* argument,
                                                       upc_shared_ptr_t p);

inline void require_thread_zero(const char* call, const char* argument, upc_shared_ptr_t p) {
  if (p.thread != 0) [[unlikely]]
    fail_first(call, argument, p);
}

[[noreturn, gnu::cold, gnu::noinline]] void fail_thread(const char* call, const char* argument,
                                                        std::uint64_t thread, std::uint32_t threads);

inline void require_thread(const runtime& rt, const char* call, const char* argument, std::uint64_t thread) {
  if (thread >= rt.size()) [[unlikely]]
    fail_thread(call, argument, thread, rt.size());
}

[[noreturn, gnu::cold, gnu::noinline]] void fail_range(const char* call, const char* argument,
                                                       upc_shared_ptr_t p, checked bytes);

// What an operation has given this thread a pointer to, for as long as its function runs; null if it is not
// that.
inline std::byte* lent(upc_shared_ptr_t p, std::uint64_t bytes) {
  return progress::running_user_code ? progress::lent_to_user_code.at(p.thread, p.addr, bytes) : nullptr;
}

// The bytes at p, on one thread, are in the shared heap; in checked mode, in one block of it.
inline void require_heap_range(const runtime& rt, const char* call, const char* argument, upc_shared_ptr_t p,
                               checked bytes) {
  if (!rt.in_heap(p.addr, bytes) && lent(p, bytes.plain()) == nullptr) [[unlikely]]
    fail_range(call, argument, p, bytes);
}
inline void require_range(const runtime& rt, const char* call, const char* argument, upc_shared_ptr_t p,
                          checked bytes) {
  require_heap_range(rt, call, argument, p, bytes);
  if (block_check::on && lent(p, bytes.plain()) == nullptr) [[unlikely]]
    block_check::require_one_block(rt, call, argument, p, bytes);
}

[[noreturn, gnu::cold, gnu::noinline]] void
fail_symmetric(const runtime& rt, const char* call, const char* argument, upc_shared_ptr_t p, checked bytes);

// The bytes at p are in memory that every thread has there: what lies in one thread's upc_alloc is, on the
// others, something else. In checked mode they are in one block of it.
inline void require_symmetric_heap_range(const runtime& rt, const char* call, const char* argument,
                                         upc_shared_ptr_t p, checked bytes) {
  if (!rt.in_symmetric_heap(p.addr, bytes)) [[unlikely]]
    fail_symmetric(rt, call, argument, p, bytes);
}
inline void require_symmetric_range(const runtime& rt, const char* call, const char* argument,
                                    upc_shared_ptr_t p, checked bytes) {
  require_symmetric_heap_range(rt, call, argument, p, bytes);
  if (block_check::on) [[unlikely]]
    block_check::require_one_block(rt, call, argument, p, bytes);
}

// All of it for one end of a copy by one thread.
inline void require_memory(const runtime& rt, const char* call, const char* argument, upc_shared_ptr_t p,
                           checked bytes) {
  require_not_null(call, argument, p);
  require_thread(rt, call, argument, p.thread);
  require_range(rt, call, argument, p, bytes);
}

[[noreturn, gnu::cold, gnu::noinline]] void fail_alignment(const char* call, const char* argument,
                                                           upc_shared_ptr_t p, std::size_t alignment);

inline void require_aligned(const char* call, const char* argument, upc_shared_ptr_t p,
                            std::size_t alignment) {
  if (p.addr % alignment != 0) [[unlikely]]
    fail_alignment(call, argument, p, alignment);
}

[[noreturn, gnu::cold, gnu::noinline]] void fail_product(const char* call, const char* argument,
                                                         std::size_t a, std::size_t b);

// a * b, an error where checked numbers would stop at the largest one; argument names the product.
inline std::size_t product(const char* call, const char* argument, std::size_t a, std::size_t b) {
  std::size_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) [[unlikely]]
    fail_product(call, argument, a, b);
  return result;
}

// Errors: the exchange or one of its functions is null; its rank is none of its size.
inline void require_exchange(const char* call, const weft_exchange_t* e) {
  if (e == nullptr) fail(call, "exchange", "null", "must be the address of an exchange");
  const auto require = [call](bool there, const char* what) {
    if (!there) fail(call, what, "null", "must be a function: weft/job.h says what it does");
  };
  require(e->allgather != nullptr, "exchange->allgather");
  require(e->barrier != nullptr, "exchange->barrier");
  require(e->abort != nullptr, "exchange->abort");
  if (e->size < 1) fail(call, "exchange->size", std::to_string(e->size), "must be at least 1");
  if (e->rank < 0 || e->rank >= e->size)
    fail(call, "exchange->rank", std::to_string(e->rank),
         "must be from 0 to " + std::to_string(e->size - 1) + ", one for each process");
}

inline std::string exchange_failure(const char* function, int status) {
  return "the exchange of the program failed: " + std::string(function) + " returned " +
         std::to_string(status);
}

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
