// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/one_sided/subset.hpp"
#include "engine/reductions/kernels.hpp"
#include "engine/reductions/layout.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace weft::api {

// The operands of a one-sided relocalization, checked. In place dst is src, and lies on the root.
struct one_sided_blocks {
  upc_shared_ptr_t dst, src;
  std::size_t bytes; // of a block
  bool in_place;
};

// The relocalizations as copies that the calling thread makes itself, complete on return: within its host by
// loads and stores, else by gets and puts that are under way together. No rank is needed for them but the
// caller.
class carried_by_caller {
public:
  carried_by_caller(const char* call, runtime& rt, const subset& ranks, const one_sided_blocks& blocks)
      : call_(call), rt_(rt), ranks_(ranks), is_(blocks) {}

  void broadcast();
  void scatter();
  void gather();
  void exchange();
  void gather_all();
  // What they have begun is complete then.
  void finish();

private:
  // Block number `k` of an operand, on the thread that it is passed with, or on another.
  upc_shared_ptr_t block(upc_shared_ptr_t of, std::uint32_t k) const { return block(of, k, of.thread); }
  upc_shared_ptr_t block(upc_shared_ptr_t of, std::uint32_t k, std::uint32_t thread) const {
    return {of.addr + k * is_.bytes, thread, 0};
  }
  std::byte* memory(upc_shared_ptr_t p) const; // null: not reached by loads and stores
  void move(upc_shared_ptr_t to, upc_shared_ptr_t from);
  void swap(upc_shared_ptr_t a, upc_shared_ptr_t b) const;

  const char* call_;
  runtime& rt_;
  const subset& ranks_;
  one_sided_blocks is_;
  std::vector<handle> begun_;
  // The last one that loads and stores do not carry: it is made by a blocking copy, which no other thread has
  // to hear of, while those that were begun are on their way.
  struct far_move {
    upc_shared_ptr_t to, from;
  };
  std::optional<far_move> last_;
};

// Operands of a one-sided reduction, checked. Threads of the layouts are places in the subset.
struct one_sided_elements {
  reductions::layout from, to; // to: of a prefix reduction
  upc_shared_ptr_t dst;
  reductions::element type{};
  reductions::operation op{}; // of the library: it commutes
  reductions::kernels how;
};

// One-sided reductions that the calling thread computes itself: it reads the elements where they lie, or gets
// a piece after the other, and writes the results. Complete on return.
class computed_by_caller {
public:
  computed_by_caller(const char* call, runtime& rt, const subset& ranks, const one_sided_elements& it)
      : call_(call), rt_(rt), ranks_(ranks), it_(it) {}

  void reduce() const;
  void scan(bool exclusive) const;

private:
  std::vector<std::byte> bring(std::span<const reductions::layout::span> all) const;
  struct run;
  run next_run(std::uint64_t element) const;

  const char* call_;
  runtime& rt_;
  const subset& ranks_;
  const one_sided_elements& it_;
};

} // namespace weft::api
