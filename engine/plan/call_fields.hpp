// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace weft::graph {

// What the members of a team must give alike to a collective call. How each is named and printed
// progress/execution/call_record.cpp says.
enum class argument : std::uint8_t {
  dst, // an offset, for every operand lies at the same place on all
  dst_place,
  src,
  src_place, // {thread: 32, phase: 32}, of an array that may begin anywhere
  array,     // of a sort
  array_place,
  perm,
  nbytes,
  sizes, // in shared memory: where
  nelems,
  blk_size,
  elem_size,
  type,
  op,
  order, // of a sort: whose
  root,
  mode, // as packed by call_record
  form, // of a reduction: bit 0 exclusive, bit 1 reproducible
  bytes_a_thread,
  block, // of the heap, or a lock: the offset
  home,  // and its thread
  serial,
  type_of_domain,
  ops_of_domain,
  hints,
  domain,
  counts, // of vectors cut into blocks: a digest
};

// The arguments of one call, each behind its name: one list is what is compared and what is printed.
class call_fields {
public:
  static constexpr std::size_t most = 12;

  constexpr void say(argument what, std::uint64_t value) {
    what_[count_] = what;
    values_[count_++] = value;
  }
  template <class Tell> void each(Tell&& tell) const {
    for (std::size_t k = 0; k < std::min<std::size_t>(count_, most); ++k)
      tell(what_[k], values_[k]);
  }

protected:
  std::array<std::uint8_t, 3> of_{}; // which call

private:
  std::uint8_t count_ = 0;
  std::array<argument, most> what_{};
  std::array<std::uint64_t, most> values_{};
};
static_assert(std::has_unique_object_representations_v<call_fields>);

// Two in one: the thread and the phase of a place, a type and operators.
constexpr std::uint64_t packed(std::uint32_t high, std::uint32_t low) {
  return std::uint64_t{high} << 32 | low;
}
constexpr std::uint32_t high_of(std::uint64_t both) {
  return static_cast<std::uint32_t>(both >> 32);
}
constexpr std::uint32_t low_of(std::uint64_t both) {
  return static_cast<std::uint32_t>(both);
}

} // namespace weft::graph
