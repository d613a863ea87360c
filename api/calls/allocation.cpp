// SPDX-License-Identifier: BSD-3-Clause
#include "api/calls/allocation.hpp"
#include "api/checks/checks.hpp"
#include "include/weft/heap.h"
#include "progress/control/lock_calls.hpp"

#include <optional>

namespace weft {
namespace api {

std::size_t bytes_per_thread(const char* call, std::size_t blocks, std::size_t block_bytes,
                             std::uint32_t threads) {
  product(call, "nblocks * nbytes", blocks, block_bytes);
  const std::size_t rounds = blocks / threads + (blocks % threads != 0 ? 1 : 0);
  return product(call, "bytes per thread", rounds, block_bytes);
}

void fail_no_room(const runtime& rt, const char* call, const char* argument, std::string asked,
                  std::size_t bytes) {
  fail(call, argument, std::move(asked),
       "no room for " + std::to_string(bytes) + " bytes per thread in the shared heap, WEFT_HEAP_SIZE is " +
           std::to_string(rt.heap_bytes()) + " bytes: raise it");
}

namespace {

auto words(std::size_t blocks, std::size_t block_bytes) {
  return [=] { return std::to_string(blocks) + " * " + std::to_string(block_bytes); };
}

void require_freeable(const runtime& rt, const char* call, upc_shared_ptr_t p) {
  require_thread(rt, call, "ptr", p.thread);
  if (!rt.in_heap(p.addr, 1))
    fail_pointer(call, "ptr", p, "is not in the shared heap: pass what an allocation returned, once");
  if (p.thread != 0 && rt.in_symmetric_heap(p.addr, 1))
    fail_pointer(call, "ptr", p,
                 "is not the beginning of its block, which is on thread 0: pass what an allocation returned");
}

// A lock lies within a block of the library's, and its pointer has its serial as the phase.
bool is_lock(runtime& rt, upc_shared_ptr_t p) {
  constexpr std::size_t line = 64;
  if (p.phase == 0 || p.addr % line != 0 || rt.in_symmetric_heap(p.addr, 1)) return false;
  std::uint64_t word = 0;
  rt.get(&word, p.thread, p.addr, sizeof word);
  return control::lock_word::read(word).is(p.phase);
}

// What became of it: nothing was freed unless a block begins there.
void require_freed(runtime& rt, const char* call, upc_shared_ptr_t p, std::uint64_t block) {
  if (block == p.addr) return;
  if (block != 0 && is_lock(rt, p))
    fail_pointer(call, "ptr", p, "is a lock: free it with upc_lock_free, or with upc_all_lock_free on all");
  if (block == 0)
    fail_pointer(call, "ptr", p,
                 "is not allocated: it was freed before, pass what an allocation returned, once");
  const std::string rule = "is " + std::to_string(p.addr - block) +
                           " bytes behind the beginning of its block: pass what an allocation returned";
  fail_pointer(call, "ptr", p, rule.c_str());
}

} // namespace

void free_by_all(runtime& rt, const char* call, upc_shared_ptr_t ptr) {
  require_no_split_barrier(call);
  if (upc_isnull(ptr)) return;
  require_freeable(rt, call, ptr);
  require_freed(rt, call, ptr, rt.free_block_of_all(ptr.thread, ptr.addr));
}

} // namespace api

upc_shared_ptr_t upc_all_alloc(size_t nblocks, size_t nbytes) {
  constexpr const char* call = "upc_all_alloc";
  api::runtime& rt = api::runtime::get(call);
  api::require_no_split_barrier(call);
  const std::size_t bytes = api::bytes_per_thread(call, nblocks, nbytes, rt.size());
  if (bytes == 0) return {};
  const std::uint64_t offset = api::naming(call, [&] { return rt.allocate_all(bytes); });
  return api::allocated(rt, call, "nblocks * nbytes", api::words(nblocks, nbytes), bytes, offset, 0);
}

upc_shared_ptr_t upc_global_alloc(size_t nblocks, size_t nbytes) {
  constexpr const char* call = "upc_global_alloc";
  api::runtime& rt = api::runtime::get(call);
  const std::size_t bytes = api::bytes_per_thread(call, nblocks, nbytes, rt.size());
  if (bytes == 0) return {};
  const std::uint64_t offset = api::naming(call, [&] { return rt.allocate_global(bytes); });
  return api::allocated(rt, call, "nblocks * nbytes", api::words(nblocks, nbytes), bytes, offset, 0);
}

upc_shared_ptr_t upc_alloc(size_t nbytes) {
  constexpr const char* call = "upc_alloc";
  api::runtime& rt = api::runtime::get(call);
  if (nbytes == 0) return {};
  const std::uint64_t offset = api::naming(call, [&] { return rt.allocate_local(nbytes); });
  return api::allocated(
      rt, call, "nbytes", [=] { return std::to_string(nbytes); }, nbytes, offset, rt.rank());
}

void upc_free(upc_shared_ptr_t ptr) {
  constexpr const char* call = "upc_free";
  api::runtime& rt = api::runtime::get(call);
  if (upc_isnull(ptr)) return;
  api::require_freeable(rt, call, ptr);
  api::naming(call, [&] { api::require_freed(rt, call, ptr, rt.free_block(ptr.thread, ptr.addr)); });
}

void upc_all_free(upc_shared_ptr_t ptr) {
  constexpr const char* call = "upc_all_free";
  api::runtime& rt = api::runtime::get(call);
  api::naming(call, [&] { api::free_by_all(rt, call, ptr); });
}

} // namespace weft
