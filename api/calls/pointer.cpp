// SPDX-License-Identifier: BSD-3-Clause
#include "include/weft/pointer.h"
#include "api/checks/checks.hpp"
#include "include/upc_castable.h"
#include "include/weft/arithmetic.hpp"
#include "include/weft/direct.h"

namespace weft::api {

const std::uint64_t* runtime::reach() {
  if (reach_.empty()) {
    reach_.resize(size());
    fill_reach();
    with_reach = this;
  }
  return reach_.data();
}

void runtime::fill_reach() {
  closed_ = false;
  constexpr std::uint64_t longest = 16; // what may be accessed where the first byte is inside
  // What other ranks put here over sockets arrives in calls: so each access is one.
  if (has_no_thread() && !all_near()) return;
  for (std::uint32_t r = 0; r != reach_.size(); ++r) {
    const std::uint64_t bytes = reach_of(r).bytes;
    reach_[r] = bytes > longest ? bytes - longest : 0;
  }
}

} // namespace weft::api

namespace weft {
namespace {

// The threads that the blocks go round.
std::int64_t round_of(const char* call, std::size_t block_elems) {
  return block_elems == 0 ? 1 : api::runtime::get(call).size();
}

} // namespace

namespace detail {

void fail_block(const char* call, std::size_t block_elems) {
  api::fail(
      call, "block_elems", std::to_string(block_elems),
      "is more than 4294967295 elements, which is all that the 32 bits of a phase can count: use smaller "
      "blocks, or 0, an indefinite block size");
}

void fail_size(const char* call, std::size_t elem_size) {
  api::fail(call, "elem_size", std::to_string(elem_size),
            "must be the size of an element in bytes, 1 to 2^63 - 1");
}

void fail_advance(const char* call, std::int64_t inc) {
  api::fail(call, "inc", std::to_string(inc),
            "leads further than 63 bits of bytes can say: the result must be in the same array");
}

void fail_distance(const char* call) {
  api::fail(
      call, "", "",
      "the elements between the two pointers do not fit into 64 bits: both must point into the same array");
}

} // namespace detail

upc_shared_ptr_t upc_ptradd(upc_shared_ptr_t p, size_t block_elems, size_t elem_size, ptrdiff_t inc) {
  constexpr const char* call = "upc_ptradd";
  return detail::advance(call, p, block_elems, elem_size, inc, round_of(call, block_elems));
}

ptrdiff_t upc_ptrdiff(upc_shared_ptr_t a, upc_shared_ptr_t b, size_t block_elems, size_t elem_size) {
  constexpr const char* call = "upc_ptrdiff";
  return detail::distance(call, a, b, block_elems, elem_size, round_of(call, block_elems));
}

int upc_ptrcmp(upc_shared_ptr_t a, upc_shared_ptr_t b, size_t block_elems, size_t elem_size) {
  constexpr const char* call = "upc_ptrcmp";
  const std::int64_t d = detail::distance(call, a, b, block_elems, elem_size, round_of(call, block_elems));
  return (d > 0) - (d < 0);
}

size_t upc_affinitysize(size_t totalsize, size_t nbytes, size_t threadid) {
  constexpr const char* call = "upc_affinitysize";
  const api::runtime& rt = api::runtime::get(call);
  api::require_thread(rt, call, "threadid", threadid);
  if (nbytes == 0) return threadid == 0 ? totalsize : 0;
  // Full rounds of blocks, and the part of the last round that comes to this thread.
  const size_t threads = rt.size();
  const size_t blocks = totalsize / nbytes, rest = totalsize % nbytes;
  const size_t last = blocks % threads;
  return blocks / threads * nbytes + (threadid < last ? nbytes : threadid == last ? rest : 0);
}

void* upc_cast(upc_shared_ptr_t ptr) {
  constexpr const char* call = "upc_cast";
  api::runtime& rt = api::runtime::get(call);
  if (void* const there = rt.cast(ptr.thread, ptr.addr, 1)) return there;
  if (void* const there = api::lent(ptr, 1)) return there;
  if (upc_isnull(ptr)) return nullptr;
  api::require_thread(rt, call, "ptr", ptr.thread);
  api::require_heap_range(rt, call, "ptr", ptr, 1); // it may point behind a block: that is no access
  return rt.direct(ptr.thread, ptr.addr);
}

upc_thread_info_t upc_thread_info(size_t thread) {
  constexpr const char* call = "upc_thread_info";
  api::runtime& rt = api::runtime::get(call);
  api::require_thread(rt, call, "thread", thread);
  // A whole segment is reached by loads and stores, or nothing of it.
  const int castable = rt.direct(static_cast<std::uint32_t>(thread), 0) != nullptr ? UPC_CASTABLE_ALL : 0;
  return {castable, castable};
}

weft_direct_t weft_direct(size_t thread) {
  constexpr const char* call = "weft_direct";
  api::runtime& rt = api::runtime::get(call);
  api::require_thread(rt, call, "thread", thread);
  return rt.reach_of(static_cast<std::uint32_t>(thread));
}

const uint64_t* weft_reach() {
  return api::runtime::get("weft_reach").reach();
}

} // namespace weft
