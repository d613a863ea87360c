// SPDX-License-Identifier: BSD-3-Clause
#include "api/calls/staging.hpp"

#include "api/checks/failure.hpp"
#include "engine/memory/copy.hpp"
#include "include/upc_collective_cray.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <new>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace weft::api {

namespace {

constexpr unsigned place_bits = 40; // of lines: 64 TiB
constexpr std::uint64_t place_mask = (std::uint64_t{1} << place_bits) - 1;
constexpr std::uint64_t moved(std::uint64_t head, std::uint64_t place) {
  return ((head >> place_bits) + 1) << place_bits | place;
}

constinit staging_pool pool;

graph::stand_in::outcome end_of_operation(graph::stand_in& s, bool went_well) {
  auto& b = static_cast<staged_block&>(s);
  const bool gone = block_check::on && went_well && !is_mapped(b.results, b.result_bytes);
  const graph::stand_in::outcome o{gone ? b.results : nullptr, b.result_bytes};
  if (went_well && !gone) engine::copy_bytes(b.results, b.made, b.result_bytes);
  if (!b.of_caller) pool.give_back(b);
  return o;
}

} // namespace

staging_pool& staged_blocks() noexcept {
  return pool;
}

std::uint32_t staging_pool::class_of(std::uint64_t bytes) {
  if (bytes <= size_of(0)) return 0;
  const auto shift = static_cast<unsigned>(std::bit_width(bytes - 1)) - 3;
  return static_cast<std::uint32_t>((shift - 6) * 4 + ((bytes - 1) >> shift) + 1 - 4);
}

staged_block* staging_pool::pop(runtime& rt, std::uint32_t size_class) {
  std::atomic<std::uint64_t>& first = free_[size_class];
  for (std::uint64_t head = first.load(std::memory_order_acquire);;) {
    if ((head & place_mask) == 0) return nullptr;
    auto& b = *reinterpret_cast<staged_block*>(rt.own_memory((head & place_mask) * staged_block::line));
    const std::uint64_t next = b.next.load(std::memory_order_relaxed);
    if (first.compare_exchange_weak(head, moved(head, next), std::memory_order_acquire)) return &b;
  }
}

void staging_pool::give_back(staged_block& b) noexcept {
  std::atomic<std::uint64_t>& first = free_[b.size_class];
  std::uint64_t head = first.load(std::memory_order_relaxed);
  do
    b.next.store(head & place_mask, std::memory_order_relaxed);
  while (!first.compare_exchange_weak(head, moved(head, b.place), std::memory_order_release,
                                      std::memory_order_relaxed));
}

// Where the heap has no room, what is kept for other sizes goes back to it.
std::uint64_t staging_pool::allocate(runtime& rt, std::uint64_t bytes) {
  if (const std::uint64_t offset = rt.allocate_local(bytes); offset != 0) return offset;
  for (std::uint32_t k = 0; k != size_classes; ++k)
    while (const staged_block* const b = pop(rt, k))
      rt.free_block(rt.rank(), b->place * staged_block::line);
  return rt.allocate_local(bytes);
}

staged_block* staging_pool::take(runtime& rt, std::uint64_t bytes) {
  if (bytes > size_of(size_classes - 1) - staged_block::line) return nullptr;
  if (job_.exchange(runtime::begun, std::memory_order_relaxed) != runtime::begun) [[unlikely]]
    for (std::atomic<std::uint64_t>& first : free_)
      first.store(0, std::memory_order_relaxed);
  const std::uint32_t size_class = class_of(bytes + staged_block::line);
  if (staged_block* const b = pop(rt, size_class)) return b;
  const std::uint64_t offset = allocate(rt, size_of(size_class));
  if (offset == 0) return nullptr;
  auto* const b = new (rt.own_memory(offset)) staged_block;
  b->end = end_of_operation;
  b->size_class = size_class;
  b->place = offset / staged_block::line;
  return b;
}

bool is_mapped(const std::byte* memory, std::uint64_t bytes) {
  if (bytes == 0) return true;
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(memory);
  std::array<unsigned char, 1024> resident;
  for (std::uintptr_t at = first / page * page; at < first + bytes; at += resident.size() * page) {
    const std::uintptr_t here = std::min<std::uintptr_t>(first + bytes - at, resident.size() * page);
    if (mincore(reinterpret_cast<void*>(at), here, resident.data()) != 0) return false;
  }
  return true;
}

// Addresses of a process have 56 bits at most.
constexpr std::uint64_t most_memory = std::uint64_t{1} << 56;

void require_operand(const runtime& rt, const char* call, const char* argument, upc_shared_ptr_t p,
                     checked operand) {
  if (!is_ordinary(p)) return require_range(rt, call, argument, p, operand);
  const std::uint64_t bytes = operand.plain(),
                      first = reinterpret_cast<std::uintptr_t>(rt.own_memory(p.addr));
  if (first > most_memory || bytes > most_memory - first) [[unlikely]]
    fail_pointer(
        call, argument, p,
        ("the " + std::to_string(bytes) +
         " bytes there are more than any memory holds: pass a smaller size, or a place in the memory")
            .c_str());
  if (!block_check::on || is_mapped(rt.own_memory(p.addr), bytes)) return;
  char value[24];
  std::snprintf(value, sizeof value, "%p", static_cast<void*>(rt.own_memory(p.addr)));
  fail(call, argument, value, "the " + std::to_string(bytes) + " bytes there are not all mapped memory");
}

void count_operand(runtime& rt, upc_shared_ptr_t p, std::uint64_t bytes) {
  if (bytes == 0) return;
  progress::statistics& counts = rt.counts();
  (is_ordinary(p) ? counts.operands_in_place : counts.operands_in_segment).add_concurrent();
}

staging::~staging() {
  if (block_ != nullptr && !handed_on_) pool.give_back(*block_);
}

staged_block* staging::take(runtime& rt, const char* call, std::uint64_t bytes, bool of_operands) {
  staged_block* const b = pool.take(rt, bytes);
  if (b == nullptr)
    fail(
        call, "bytes", std::to_string(bytes),
        "no room for so many bytes of operands in ordinary memory, which are copied through the shared heap: "
        "complete operations first, pass a weft::array, or raise WEFT_HEAP_SIZE, which is " +
            std::to_string(rt.heap_bytes()));
  if (of_operands) rt.counts().operations_staged.add_concurrent();
  return b;
}

void staging::reserve(std::uint64_t bytes) {
  if (bytes == 0) return;
  block_ = take(rt_, call_, bytes);
  block_->of_caller = !async_;
  block_->result_bytes = 0;
  next_ = rt_.private_offset(block_->memory());
}

std::uint64_t staging::place(std::uint64_t bytes) {
  return std::exchange(next_, next_ + lines(bytes));
}

std::uint64_t staging::copy_in(std::uint64_t from, std::uint64_t bytes) {
  const std::uint64_t to = place(bytes);
  engine::copy_bytes(rt_.own_memory(to), rt_.own_memory(from), bytes);
  rt_.counts().bytes_staged.add_concurrent(bytes);
  return to;
}

void staging::results(std::uint64_t to, std::uint64_t made, std::uint64_t bytes) {
  block_->results = rt_.own_memory(to);
  block_->made = rt_.own_memory(made);
  block_->result_bytes = bytes;
  rt_.counts().bytes_staged.add_concurrent(bytes);
}

} // namespace weft::api

namespace weft {

namespace {
upc_shared_ptr_t pointer_to(const char* call, const void* memory, std::uint32_t phase) {
  api::runtime& rt = api::runtime::get(call);
  if (memory == nullptr) return UPC_SHARED_NULL;
  const std::uint64_t place = rt.private_offset(memory);
  return {place, rt.rank(), rt.in_heap(place, 1) ? 0 : phase};
}
} // namespace

upc_shared_ptr_t weft_pointer_to(const void* memory) {
  return pointer_to("weft_pointer_to", memory, api::phase_of_ordinary);
}
upc_shared_ptr_t weft_lend(const void* memory) {
  return pointer_to("weft_lend", memory, api::phase_of_lent);
}

} // namespace weft
