// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/task.hpp"
#include "engine/reductions/layout.hpp"
#include "include/weft/sort_loops.hpp"
#include "include/weft/types.h"

#include <algorithm>
#include <type_traits>

namespace weft::sorting {

// A comparator of C: it is given pointers-to-shared (collectives V1.0, 4.3.4).
using shared_comparator = int (*)(upc_shared_ptr_t, upc_shared_ptr_t);

// What its order has for an argument; see order_of_function.
struct compared_by_function {
  shared_comparator function = nullptr;
  const std::byte* segment = nullptr; // of this thread
  std::uint32_t thread = 0;
  std::uint32_t size = 0; // bytes of an element
};
// A stable sort of a distributed array, in place. The members stand in a line, in the order in which the
// first blocks of the array lie on their threads; so many elements as each has it is to work on.
//
//   stage 0   my elements, in order, replace what I have of the array; samples of them go into my row of a
//             table
//   stage 1   the samples of all say where the elements in order are to be cut, one bucket for each member:
//             my row of another table says where I have to cut mine
//   stage 2   what I have of my own bucket goes into room of mine; then I get what the others have of it
//   stage 3   my bucket, merged: to where its elements belong, mine in place and those of others in room from
//             which they are put there
//
// All elements are different: of two that are equal the one comes first that stood first. A member alone says
// where its elements are cut, and each other rank takes its word for it; so whatever a comparator answers,
// each element goes to one place, and each place gets one. Were a bucket to become larger than samples of an
// order allow, each rank sees it in the table of cuts, and they are made by number instead.
//
// Few numbers go into the rows as they are (`whole`): stage 0 puts them there, and in stage 1, the last one,
// each rank puts all in order and takes what belongs to its own part of the array. Not what a comparator of a
// program orders: it might answer otherwise elsewhere.
//
// Elements that stand in line, as those of one block on each thread do, stay where they are for stage 0.
// Others (`dealt`) are brought into line before: each member gets so many as it has, the first those with the
// lowest indices, and no rank writes before all have theirs.
struct sorting_task : graph::task {
  detail::element_order how{};
  const void* argument = nullptr; // of the order, but for comparators of C:
  compared_by_function by_function;
  void (*release_argument)(const void*) = nullptr;
  reductions::layout of; // but for `at`: the call's address
  bool dealt = false, whole = false;
  detail::number numbers = detail::number::none; // what is compared, without a function
  // By how many elements a bucket may be larger than what its member has; how many a member may have in all.
  std::uint64_t slack = 0, most = 0;

  const void* of_order() const { return by_function.function != nullptr ? &by_function : argument; }
};
static_assert(std::is_trivially_copyable_v<sorting_task>);

// Bytes of a member's row of either table.
std::uint64_t row_bytes(const sorting_task& s, std::uint32_t members);

// Sets what follows from the rest.
void prepare(sorting_task& s, std::uint32_t members);

// Of a comparator of C, which is given pointers into the segment, or to what the sort has outside of it:
// those are the memory minus the beginning of the segment, whatever that is. The argument is a
// compared_by_function.
const detail::element_order& order_of_function(std::size_t bytes);

// Numbers of so many bytes, ascending.
const detail::element_order& order_of_numbers(detail::number kind, std::size_t bytes);

// Elements that are put in order at once before runs are merged: they and their buffer stay in the cache.
inline std::uint64_t block_elements(const sorting_task& s) {
  return std::clamp<std::uint64_t>(16 * 1024 / s.of.size, 1, 2048);
}
// Elements of a member's row of samples at most; 0: not one fits.
inline std::uint64_t most_samples(const sorting_task& s) {
  constexpr std::uint64_t row = 2048, enough = 128;
  return std::min(enough, row / s.of.size);
}
inline std::uint64_t samples_of(const sorting_task& s, std::uint64_t elements) {
  return std::min(elements, most_samples(s));
}
// Members that have a bucket: the first in line. Their cuts fit into a row.
inline std::uint32_t buckets(std::uint32_t members) {
  return std::min(members, 256u);
}
// Between two samples of a member lie elements/samples of them, of which no rank knows on which side of a cut
// they are: a bucket may be larger by those.
std::uint64_t slack(const sorting_task& s);

// The room of the task: what an execution has to remember, and two buffers for elements.
class room {
public:
  struct merging {
    std::uint64_t runs = 0;             // of the present level
    std::uint64_t next = 0, merged = 0; // the pair that is being merged; runs of the next level
    std::uint64_t of_a = 0, of_b = 0;   // what of the pair is merged already
    bool in_second = false;             // which of two buffers the runs are in
  };
  struct state {
    std::uint32_t part = 0; // of the stage
    std::uint32_t digit = 0;
    std::uint64_t at = 0;             // how far it is
    std::uint64_t begin = 0, end = 0; // my bucket, among all elements in order
    merging runs;
  };

  // It begins at `memory`.
  room(const sorting_task& s, std::uint32_t members, std::byte* memory);

  state& now() const { return *reinterpret_cast<state*>(memory_); }
  std::uint32_t* line() const { return words<std::uint32_t>(line_); } // members, as they stand in it
  std::uint32_t* place_in_line() const { return words<std::uint32_t>(place_); } // by member
  std::uint64_t* counts() const { return words<std::uint64_t>(counts_); }       // elements; in line
  std::uint64_t* cut_from() const { return words<std::uint64_t>(cut_from_); }   // my bucket's part; in line
  // What to add to an address on a member's thread: where in a buffer the element lies; by member.
  std::uint64_t* offsets() const { return words<std::uint64_t>(offsets_); }
  std::uint64_t* bounds() const { return words<std::uint64_t>(bounds_); }   // where runs begin
  std::uint64_t* digits() const { return words<std::uint64_t>(digits_); }   // how often a byte has each value
  std::uint32_t* samples() const { return words<std::uint32_t>(samples_); } // their numbers, twice
  std::byte* first() const { return memory_ + first_; }
  std::byte* second() const { return memory_ + second_; }
  std::uint64_t bytes() const { return bytes_; }

private:
  template <class Word> Word* words(std::uint64_t at) const { return reinterpret_cast<Word*>(memory_ + at); }
  std::uint64_t reserve(std::uint64_t bytes) {
    const std::uint64_t at = bytes_;
    bytes_ += (bytes + 63) / 64 * 64;
    return at;
  }

  std::byte* memory_;
  std::uint64_t bytes_ = 0;
  std::uint64_t line_, place_, counts_, cut_from_, offsets_, bounds_, digits_, samples_, first_, second_;
};

} // namespace weft::sorting
