// SPDX-License-Identifier: BSD-3-Clause
#include "api/checks/checks.hpp"

#include "api/checks/failure.hpp"

#include <array>
#include <cstdio>
#include <limits>
#include <string>

namespace weft::api {

void fail_in_user_code(const char* call) {
  fail(call, "", "",
       "must not be called by a function that a collective has called: it may read shared memory, cast "
       "pointers "
       "and ask, but neither begin a collective nor wait; do that when the operation is complete");
}

void fail_thread(const char* call, const char* argument, std::uint64_t thread, std::uint32_t threads) {
  // The programs of C count in int: a number that none can have is more often a negative one.
  const bool of_pointer = thread <= std::numeric_limits<std::uint32_t>::max();
  const std::int64_t number =
      of_pointer ? static_cast<std::int32_t>(thread) : static_cast<std::int64_t>(thread);
  fail(call, argument, "thread " + (number < 0 ? std::to_string(number) : std::to_string(thread)),
       "there is no such thread: threads are 0 to " + std::to_string(threads - 1));
}

void fail_ordinary_pointer(const char* call, const char* argument, upc_shared_ptr_t p) {
  fail_pointer(call, argument, p,
               "this call takes shared memory only: pass memory from upc_all_alloc or a shared array; what "
               "weft_pointer_to gives is for Cray's reductions and scans, and for the exchanges of unequal "
               "blocks");
}

void fail_first(const char* call, const char* argument, upc_shared_ptr_t p) {
  if (is_ordinary(p)) fail_ordinary_pointer(call, argument, p);
  fail_pointer(call, argument, p, "must have affinity to thread 0: pass the pointer to the first element");
}

void fail_range(const char* call, const char* argument, upc_shared_ptr_t p, checked bytes) {
  if (is_ordinary(p)) fail_ordinary_pointer(call, argument, p);
  fail(call, argument, "(" + describe(p) + ")",
       "the " + std::to_string(bytes.plain()) +
           " bytes there are not all in the shared heap: allocate more, or pass a smaller size");
}

void fail_symmetric(const runtime& rt, const char* call, const char* argument, upc_shared_ptr_t p,
                    checked bytes) {
  if (!rt.in_heap(p.addr, bytes) || rt.in_symmetric_heap(p.addr, 1)) fail_range(call, argument, p, bytes);
  fail_pointer(call, argument, p,
               "lies in memory from upc_alloc, which one thread has, and every thread must have its part at "
               "this place: pass memory from upc_all_alloc or upc_global_alloc, or a shared array");
}

void fail_alignment(const char* call, const char* argument, upc_shared_ptr_t p, std::size_t alignment) {
  fail(call, argument, "(" + describe(p) + ")",
       "must be aligned to " + std::to_string(alignment) + " bytes: pass an array of the right type");
}

void fail_product(const char* call, const char* argument, std::size_t a, std::size_t b) {
  fail(call, argument, std::to_string(a) + " * " + std::to_string(b),
       "does not fit into " + std::to_string(8 * sizeof(std::size_t)) + " bits: pass a smaller size");
}

} // namespace weft::api

namespace weft::api::block_check {

bool on = false;

namespace {

std::string bytes_text(std::uint64_t n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

std::string text(const engine::heap::block& b) {
  std::array<char, 32> at{};
  std::snprintf(at.data(), at.size(), " at offset 0x%llx", static_cast<unsigned long long>(b.begin));
  return bytes_text(b.bytes) + at.data();
}

} // namespace

void require_one_block(const runtime& rt, const char* call, const char* argument, upc_shared_ptr_t p,
                       engine::checked bytes) {
  if (bytes == 0) return;
  const auto known = naming(call, [&] { return rt.block_below(p.thread, p.addr); });
  if (!known) return;
  const engine::heap::block b = *known;
  const std::uint64_t begin = p.addr, end = begin + bytes.plain(), end_of_block = b.begin + b.bytes;
  if (end <= end_of_block) return;
  std::string rule;
  if (begin < end_of_block) {
    rule = "the " + bytes_text(bytes.plain()) + " there go " + bytes_text(end - end_of_block) +
           " past the end of their block, " + text(b) + ": allocate more, or pass a smaller size";
  } else {
    rule = "no block is allocated there: it was freed, or never allocated";
    if (b.begin != 0)
      rule +=
          ", and the one before it, " + text(b) + ", ends " + bytes_text(begin - end_of_block) + " before";
    rule += ": pass a pointer into what an allocation returned, before it is freed";
  }
  fail_pointer(call, argument, p, rule.c_str());
}

} // namespace weft::api::block_check
