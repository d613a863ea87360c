// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/task.hpp"
#include "engine/reductions/kernels.hpp"
#include "engine/reductions/layout.hpp"

#include <optional>
#include <type_traits>

namespace weft::reductions {

// A reduction of an array, or a prefix reduction. Each member makes a few partial results of the elements
// that it has, the plan brings those of all members together, in a table with a block for each member, and
// each rank that needs the result makes it of the table, all in the same way.
//
//   stage 0   my elements -> my block of the table
//   stage 1   the table (and, of a prefix reduction, my elements) -> the result
//
// Or members of a host combine first, and hosts among each other: the stages from 11, see runs.hpp.
//
// With an operator that commutes a reduction needs one partial result of each member. Where the order counts
// it is one of each block of the array: a table of rows. Where those would be too many, or a prefix reduction
// writes to another layout than it reads, a member works on a range of the elements instead, whichever rank
// has them (`by_ranges`): before stage 0 it gets them from the others, into room of the task, and what a
// prefix reduction makes of them it puts to those that are to have it, behind stage 1.
struct reduction : graph::task {
  enum class form : std::uint8_t { value, inclusive_prefix, exclusive_prefix };

  kernels how{};
  element type{};
  operation op{};
  const void* argument = nullptr; // of the kernels, if it is not the function
  void (*function)() = nullptr;   // of C
  void (*release_argument)(const void*) = nullptr;
  layout from, to; // to: of a prefix reduction
  form what = form::value;
  bool in_order = false; // else a member's elements are one partial result
  bool by_ranges = false;
  bool by_place = false;     // the layouts' threads are ranks of the team, not of the job
  bool reproducible = false; // by ranges: brackets by the indices alone, see fixed_tree.hpp
  bool alone = false;        // by ranges: the root's range are all elements

  const void* of_kernels() const {
    return function != nullptr ? static_cast<const void*>(&function) : argument;
  }
  // The blocks of a row begin on another thread than the first, and their order counts.
  bool begins_elsewhere() const { return in_order && from.blocks > 1 && from.first != 0; }
  // Partial results of a member at most.
  std::uint64_t partials() const;
};
static_assert(std::is_trivially_copyable_v<reduction>);

// The rank in the team of a thread that is a member.
inline std::uint32_t member_of(const graph::work& w, std::uint32_t thread) {
  if (thread < w.members && w.threads[thread] == thread) return thread;
  std::uint32_t m = 0;
  while (w.threads[m] != thread)
    ++m;
  return m;
}

// A member as the layouts number it, and the other way round.
inline std::uint32_t thread_of(const reduction& r, const graph::work& w, std::uint32_t member) {
  return r.by_place ? member : w.threads[member];
}
inline std::uint32_t member_of(const reduction& r, const graph::work& w, std::uint32_t thread) {
  return r.by_place ? thread : member_of(w, thread);
}

// Sets what follows from the rest.
void prepare(reduction& r, std::uint32_t members);

// Bytes that its plan leaves behind the table, where stage 1 keeps what it needs from one piece to the next.
inline constexpr std::uint64_t state_bytes = 128;
inline std::byte* state_of(const graph::work& w) {
  constexpr std::uint64_t alignment = 16;
  return w.scratch + (w.members * w.block + alignment - 1) / alignment * alignment;
}

// A reduction whose members work on ranges of the elements.
void prepare_ranges(reduction& r, std::uint32_t members);

// A reduction with an operator of the library, as one rank tells it to another: without addresses,
// and by place.
struct description {
  std::uint64_t elements = 0, block = 1;
  std::uint64_t from_at = 0, to_at = 0;
  std::uint32_t from_phase = 0, from_first = 0, to_phase = 0, to_first = 0;
  std::uint32_t threads = 1;
  std::uint8_t type = 0, op = 0, what = 0;
  std::uint8_t in_order : 1 = 0;
  std::uint8_t by_ranges : 1 = 0;
  std::uint8_t unused : 6 = 0;

  // Whether it can be one where memory ends at `end`.
  bool fits(std::uint64_t end) const;
};
static_assert(std::is_trivially_copyable_v<description>);

description describe(const reduction& r);
// The task again, prepared.
reduction described(const description& d);

} // namespace weft::reductions
