// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/task.hpp"
#include "engine/reductions/kernels.hpp"

#include <cstdint>
#include <type_traits>

namespace weft::reductions {

// A reduction element by element of vectors that the members have, each at an address of its own, in the
// order of their ranks. How they come together its plan decides:
//
//   stages 0, 1      my vector -> my block of the table; the table -> my result
//   stage 2          my two addresses -> my block of a table of addresses
//   stages 3, 4, 5   my slice of the vectors of others, which are brought before, and of mine -> its result,
//                    which goes to the others (4), and is mine (5)
//   stages 6, 7      among equal hosts. The members of a number have a part of the vectors, each a slice of
//                    it: the part of all vectors of my host -> my destination; my slice there, and of my
//                    twins' destinations, which is brought before -> its result, which goes to them (4)
//   stage 8          the part in my destination -> those of my neighbours
//   stages 9, 10     the vectors of others, which are brought whole, of a scan those in front of me; all of
//                    them -> my result
//   stages 11 ...    what hosts combine among each other, see runs.hpp
//   stages from 24   see vector_stage
struct vector_reduction : graph::task {
  // All vectors, or those of the members up to me, or before me; or all, and of the result my block.
  enum class form : std::uint8_t { all, inclusive_prefix, exclusive_prefix, own_block };

  kernels how{};
  const void* argument = nullptr; // of the kernels
  void (*release_argument)(const void*) = nullptr;
  std::uint32_t size = 1; // bytes of an element
  form what = form::all;
  std::uint64_t slice = 0; // bytes of the longest
  // Of the result: which bytes are my block.
  std::uint64_t block_at = 0, block_bytes = 0;
  std::uint64_t digest = 0; // of the sizes of all blocks
};
static_assert(std::is_trivially_copyable_v<vector_reduction>);

// Where a member has its vector, and wants the result; as it stands in tables.
struct addresses {
  std::uint64_t dst = 0, src = 0;
};

// Those of scans and of results of which each member has a block.
enum vector_stage_number : std::uint32_t {
  prefixes_of_slice =
      24,         // my slice of the vectors of others, brought in stage 3, and of mine -> its prefixes
  hand_on_prefix, // which go to those that are to have them
  own_prefix,     // and to me
  bring_block,    // my block of the vectors of others
  combine_block,  // and of mine -> my result
  // Among a power of two of equal hosts, instead of 7, 4 and 5:
  first_part,   // as 6, and no half of the part is mine yet
  bring_half,   // of the part as a twin has it by now the half that I keep
  combine_half, // and mine -> my destination; from then on that half is my part
  hand_on_run,  // which, when it is a result, goes to that twin
  run_is_there, // and is where it belongs
  // Among equal hosts, where twins send each other parts:
  part_of_host,  // the part of all vectors of my host -> the sum of my host, in the scratch
  part_for_twin, // which goes to a twin;
  part_of_twin,  // and theirs
  combine_parts, // -> my destination; of a scan the part of each result on my host, which stage 8 hands on
};

// Elements of `size` bytes at most.
inline constexpr std::uint32_t largest_element = 4096;

void prepare(vector_reduction& r, std::uint64_t bytes, std::uint32_t members);

} // namespace weft::reductions
