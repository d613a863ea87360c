// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/calls/collective_call.hpp"
#include "api/checks/checks.hpp"
#include "engine/reductions/kernels.hpp"
#include "engine/reductions/layout.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace weft::api {

// 0 or UPC_ASYNC.
void require_known_flags(const char* call, upc_flag_t flags);

// The threads that take part in a one-sided operation, in their order. All threads of the job, in theirs,
// have no list.
class subset {
public:
  // Errors: unknown or freed team; no threads, one that does not exist, one twice.
  static subset of_team(runtime& rt, const char* call, upc_team_t team);
  static subset of_list(runtime& rt, const char* call, const int* threads, std::size_t count);

  bool all() const { return list_.empty(); }
  std::uint32_t size() const { return size_; }
  std::uint32_t operator[](std::uint32_t k) const { return all() ? k : list_[k]; }
  // The place of a thread; size() if it takes no part.
  std::uint32_t place_of(std::uint32_t thread) const;
  std::span<const std::uint32_t> list() const { return list_; }

private:
  explicit subset(std::uint32_t size) : size_(size) {}
  subset(const runtime& rt, std::vector<std::uint32_t> list);

  std::uint32_t size_;
  std::vector<std::uint32_t> list_;
};

// Whether engines are to do what touches so many bytes of all that take part, or the caller alone: that is as
// fast as it can be within a host, and between hosts for a few small messages.
bool worth_engines(runtime& rt, const subset& ranks, checked bytes, bool async);

// An operation on the caller's own channel: the engines of those that take part begin when they hear of it,
// and with the last node it is complete everywhere. Roots are places in the subset. Nothing: there is no room
// for one more channel.
std::optional<collective_call> by_engines(const char* call, runtime& rt, const subset& ranks, bool async);

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
