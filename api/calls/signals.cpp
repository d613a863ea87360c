// SPDX-License-Identifier: BSD-3-Clause
// Copies with a signal, and waiting for one.
//
// The order. Of a rank whose memory is reached by loads and stores: the bytes are stored, then the signal by
// an instruction of the processor that releases; the waiter acquires it. Of any other one: the bytes are put
// and ordered, so that the message behind them, which asks the target's engine to raise the signal, is
// handled when they are in place; a flush behind it says here that they are.
#include "api/calls/copies.hpp"
#include "api/checks/checks.hpp"
#include "api/checks/handle_record.hpp"
#include "include/weft/rows.h"
#include "include/weft/signal.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>

namespace weft {
namespace api {
namespace {

using word = std::atomic<std::uint64_t>;

void require_signal(const runtime& rt, const char* call, upc_shared_ptr_t signal) {
  require_memory(rt, call, "signal", signal, sizeof(std::uint64_t));
  require_aligned(call, "signal", signal, alignof(std::uint64_t));
}

bool holds(std::uint64_t now, weft_cmp_t cmp, std::uint64_t value) {
  switch (cmp) {
  case WEFT_CMP_EQ:
    return now == value;
  case WEFT_CMP_NE:
    return now != value;
  case WEFT_CMP_GT:
    return now > value;
  case WEFT_CMP_GE:
    return now >= value;
  case WEFT_CMP_LT:
    return now < value;
  default:
    return now <= value;
  }
}

// The calling thread's own.
const word& own_signal(runtime& rt, const char* call, upc_shared_ptr_t signal, weft_cmp_t cmp) {
  require_outside_user_code(call);
  require_signal(rt, call, signal);
  if (signal.thread != rt.rank()) [[unlikely]]
    fail_pointer(call, "signal", signal,
                 "must have affinity to the calling thread: each thread waits for its own signals");
  if (cmp < WEFT_CMP_EQ || cmp > WEFT_CMP_LE) [[unlikely]]
    fail(call, "cmp", std::to_string(static_cast<int>(cmp)),
         "is no comparison: pass WEFT_CMP_EQ, _NE, _GT, _GE, _LT or _LE");
  return *static_cast<const word*>(rt.direct(signal.thread, signal.addr));
}

// For the report of a wait that lasts.
std::string wait_text(upc_shared_ptr_t signal, std::uint64_t now, weft_cmp_t cmp, std::uint64_t value) {
  static constexpr const char* signs[] = {"== ", "!= ", "> ", ">= ", "< ", "<= "};
  char offset[24];
  std::snprintf(offset, sizeof offset, "0x%llx", static_cast<unsigned long long>(signal.addr));
  return "weft_wait_until: its signal at offset " + std::string(offset) + " to be " + signs[cmp] +
         std::to_string(value) + ", it is " + std::to_string(now);
}

control::atomic_operation raising(std::uint64_t value, weft_signal_t how) {
  const auto kind = how == WEFT_SIGNAL_ADD ? control::atomic_kind::add : control::atomic_kind::set;
  return {.type = control::atomic_type::u64, .kind = kind, .operand1 = {value}};
}

// Whether the word has a byte of a row, which all are on its thread.
bool lies_in(std::uint64_t word, std::uint64_t first, const row_shape& rows) {
  constexpr std::uint64_t bytes = sizeof(std::uint64_t);
  if (word + bytes <= first) return false;
  const std::uint64_t from_first = word - first; // wraps where it reaches into the first row
  if (word <= first || from_first < rows.bytes) return true;
  if (rows.rows == 1) return false;
  const std::uint64_t row = from_first / rows.apart_there, behind_its_begin = from_first % rows.apart_there;
  return (row < rows.rows && behind_its_begin < rows.bytes) ||
         (row + 1 < rows.rows && behind_its_begin + bytes > rows.apart_there);
}

void require_signal_of(const runtime& rt, const char* call, upc_shared_ptr_t dst, const row_shape& rows,
                       upc_shared_ptr_t signal, weft_signal_t how) {
  require_signal(rt, call, signal);
  if (rows.all() != 0 && signal.thread != dst.thread) [[unlikely]]
    fail_pointer(call, "signal", signal, "must be on the thread of dst: that thread waits for it");
  if (rows.all() != 0 && lies_in(signal.addr, dst.addr, rows)) [[unlikely]]
    fail_pointer(call, "signal", signal,
                 "lies in the bytes that are copied to dst: pass a word that has none of them");
  if (how != WEFT_SIGNAL_SET && how != WEFT_SIGNAL_ADD) [[unlikely]]
    fail(call, "how", std::to_string(static_cast<int>(how)), "must be WEFT_SIGNAL_SET or WEFT_SIGNAL_ADD");
}

// The rows, of which there may be none, then the signal, which is null where there is none.
upc_coll_handle_t put_and_raise(runtime& rt, const char* call, upc_shared_ptr_t dst, const void* src,
                                const row_shape& shape, upc_shared_ptr_t signal, std::uint64_t value,
                                weft_signal_t how) {
  const bool raises = signal.addr != 0;
  const control::atomic_operation raise = raising(value, how);
  const upc_shared_ptr_t target = raises ? signal : dst;
  if (void* const there = rt.direct(target.thread, target.addr)) {
    put_rows(rt, dst, src, shape);
    if (!raises) return UPC_HANDLE_COMPLETE;
    control::apply(static_cast<std::byte*>(there), raise);
    rt.tell_host();
    return UPC_HANDLE_COMPLETE;
  }
  progress::one_sided_request r = progress::one_sided_request::put(target.thread, dst.addr, src, shape.all());
  if (shape.all() != 0)
    r.rows = shape.rows, r.apart_here = shape.apart_here, r.apart_there = shape.apart_there;
  if (raises) r.signal = {.offset = signal.addr, .value = value, .adds = how == WEFT_SIGNAL_ADD};
  return naming(call, [&] {
    const handle h = rt.post_transfer(r);
    if (h != UPC_HANDLE_COMPLETE) return handle_record::issued(call, h);
    put_rows(rt, dst, src, shape); // as many as allowed are outstanding
    if (raises) rt.apply_by_owner(signal.thread, signal.addr, raise);
    return h;
  });
}

} // namespace
} // namespace api

upc_coll_handle_t weft_put_signal(upc_shared_ptr_t dst, const void* src, size_t nbytes,
                                  upc_shared_ptr_t signal, uint64_t value, weft_signal_t how) {
  constexpr const char* call = "weft_put_signal";
  api::runtime& rt = api::runtime::get(call);
  api::require_outside_user_code(call);
  const bool copies = api::check_memput(call, dst, src, nbytes) != nullptr;
  api::require_signal_of(rt, call, dst, {.bytes = nbytes}, signal, how);
  return api::put_and_raise(rt, call, dst, src, {.bytes = nbytes, .rows = copies ? 1u : 0u}, signal, value,
                            how);
}

upc_coll_handle_t weft_put_rows(upc_shared_ptr_t dst, size_t dst_stride, const void* src, size_t src_stride,
                                size_t nbytes, size_t rows, upc_shared_ptr_t signal, uint64_t value,
                                weft_signal_t how) {
  constexpr const char* call = "weft_put_rows";
  api::runtime& rt = api::runtime::get(call);
  api::require_outside_user_code(call);
  api::row_shape shape{nbytes, rows, dst_stride, src_stride};
  if (api::check_rows(call, "dst", dst, "src", src, shape) == nullptr) shape.rows = 0;
  if (!upc_isnull(signal))
    api::require_signal_of(rt, call, dst, shape, signal, how);
  else if (shape.rows == 0)
    return UPC_HANDLE_COMPLETE;
  return api::put_and_raise(rt, call, dst, src, shape, signal, value, how);
}

uint64_t weft_wait_until(upc_shared_ptr_t signal, weft_cmp_t cmp, uint64_t value) {
  constexpr const char* call = "weft_wait_until";
  api::runtime& rt = api::runtime::get(call);
  const api::word& mine = api::own_signal(rt, call, signal, cmp);
  std::uint64_t now = mine.load(std::memory_order_acquire);
  if (api::holds(now, cmp, value)) return now;
  api::naming(call, [&] {
    rt.await(
        [&](progress::look) { return api::holds(now = mine.load(std::memory_order_acquire), cmp, value); },
        [&] { return api::wait_text(signal, mine.load(std::memory_order_relaxed), cmp, value); },
        std::chrono::milliseconds(1));
  });
  return now;
}

int weft_test_until(upc_shared_ptr_t signal, weft_cmp_t cmp, uint64_t value) {
  constexpr const char* call = "weft_test_until";
  api::runtime& rt = api::runtime::get(call);
  const api::word& mine = api::own_signal(rt, call, signal, cmp);
  if (api::holds(mine.load(std::memory_order_acquire), cmp, value)) return 1;
  api::naming(call, [&] { rt.progress(); });
  return api::holds(mine.load(std::memory_order_acquire), cmp, value) ? 1 : 0;
}

} // namespace weft
