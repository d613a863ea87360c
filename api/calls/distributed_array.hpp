// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/calls/collective_call.hpp"
#include "api/checks/checks.hpp"
#include "engine/reductions/layout.hpp"

#include <algorithm>

namespace weft::api {

// The checks of operands that lie over the threads as `shared [block] TYPE A[elements]` does. They stand
// before small operations: what succeeds is in line, and what fails is elsewhere.
class distributed_array {
public:
  struct shape {
    const char* bytes; // what nelems elements have, as the call says it
    std::uint32_t size;
    std::size_t alignment;
    std::size_t elements, block; // blk_size
  };
  distributed_array(const collective_call& c, const shape& of) : c_(c), shape_(of) {}

  // All of it is where it may be.
  reductions::layout of(const char* argument, upc_shared_ptr_t p) const {
    require_not_null(c_.name, argument, p);
    require_thread(c_.rt, c_.name, argument, p.thread);
    const reductions::layout l = over(argument, p, p.thread, c_.rt.size());
    if (l.elements != 0 && !c_.of_all()) require_members(argument, l);
    return l;
  }

  // Over so many threads, the first element on the one with this number.
  reductions::layout over(const char* argument, upc_shared_ptr_t p, std::uint32_t first,
                          std::uint32_t threads) const {
    require_aligned(c_.name, argument, p, shape_.alignment);
    if (shape_.block > most_block) [[unlikely]]
      fail_block();
    if (shape_.block != 0 && p.phase >= shape_.block) [[unlikely]]
      fail_phase(argument, p);
    const auto l =
        reductions::layout::of(p.addr, shape_.elements, shape_.block, p.phase, first, threads, shape_.size);
    if (shape_.elements == 0) return l;
    product(c_.name, shape_.bytes, shape_.elements, shape_.size);
    require_place(argument, p, l);
    return l;
  }

  // Bytes from the lowest to the highest that the array has on a thread.
  struct extent {
    std::uint64_t begin, end;
  };
  static extent extent_of(const reductions::layout& l) {
    const std::uint64_t ahead = std::uint64_t{l.phase} * l.size, last = l.address_of(l.elements - 1) + l.size;
    if (l.blocks == 1) return {l.at, last};
    // Any rank that has a block of the last row before the last block has all of it; and of the rows before,
    // all have.
    const std::uint64_t last_row = l.row_of(l.blocks - 1);
    const std::uint64_t before =
        l.first + l.blocks - 1 - last_row * l.threads - (last_row == 0 ? l.first : 0);
    const std::uint64_t whole_rows = last_row + (before != 0 ? 1 : 0);
    return {l.at - ahead, std::max(last, l.at - ahead + whole_rows * l.block * l.size)};
  }

  // On some thread; neither is empty.
  static bool overlap(const reductions::layout& x, const reductions::layout& y) {
    const extent a = extent_of(x), b = extent_of(y);
    return a.begin < b.end && b.begin < a.end;
  }

private:
  static constexpr std::size_t most_block = 0xffffffff;

  void require_place(const char* argument, upc_shared_ptr_t p, const reductions::layout& l) const {
    const std::uint64_t ahead = l.blocks > 1 ? std::uint64_t{l.phase} * l.size : 0;
    const checked bytes = checked(l.elements) * l.size;
    if (l.blocks == 1) return require_range(c_.rt, c_.name, argument, p, bytes);
    // A bound that cannot overflow comes first; then what it takes exactly.
    upc_shared_ptr_t begin = p;
    begin.addr = p.addr >= ahead ? p.addr - ahead : 0;
    require_symmetric_heap_range(c_.rt, c_.name, argument, begin,
                                 (l.elements - 1) / l.threads * checked(l.size));
    const extent e = extent_of(l);
    require_symmetric_heap_range(c_.rt, c_.name, argument, begin, e.end - e.begin);
    if (block_check::on) [[unlikely]]
      require_one_block(argument, p, l);
  }

  void require_members(const char* argument, const reductions::layout& l) const;
  [[gnu::cold]] void require_one_block(const char* argument, upc_shared_ptr_t p,
                                                      const reductions::layout& l) const;
  [[noreturn, gnu::cold]] void fail_block() const;
  [[noreturn, gnu::cold]] void fail_phase(const char* argument, upc_shared_ptr_t p) const;

  const collective_call& c_;
  shape shape_;
};

inline void distributed_array::fail_block() const {
  fail(c_.name, "blk_size", std::to_string(shape_.block), "must not exceed 2^32 - 1: a phase has 32 bits");
}

inline void distributed_array::fail_phase(const char* argument, upc_shared_ptr_t p) const {
  if (is_ordinary(p)) fail_ordinary_pointer(c_.name, argument, p);
  fail_pointer(c_.name, argument, p,
               "its phase must be below blk_size: make it with upc_ptradd, or pass the array's own block "
               "size");
}

inline void distributed_array::require_members(const char* argument, const reductions::layout& l) const {
  for (std::uint32_t t = 0; t < l.threads; ++t)
    if (l.rows_of(t) != 0 && c_.rank(t) >= c_.threads)
      fail(c_.name, argument, "thread " + std::to_string(t),
           "has elements and is no member of the team: pass an array that lies on the team's threads, or a "
           "team with all of its threads");
}

// From the lowest to the highest byte that any thread has of it.
inline void distributed_array::require_one_block(const char* argument, upc_shared_ptr_t p,
                                                 const reductions::layout& l) const {
  std::uint64_t begin = ~std::uint64_t{0}, end = 0;
  for (std::uint32_t t = 0; t < l.threads; ++t) {
    const reductions::layout::span has = l.of_thread(t);
    if (has.elements == 0) continue;
    begin = std::min(begin, has.at);
    end = std::max(end, has.at + has.elements * l.size);
  }
  p.addr = begin;
  block_check::require_one_block(c_.rt, c_.name, argument, p, end - begin);
}

} // namespace weft::api
