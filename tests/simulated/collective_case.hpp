// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/request.hpp"
#include "tests/calls/reference.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::tests {

// A random program of collectives, the same for all ranks: rounds of operations that are in flight together.
struct collective_case {
  struct call {
    collectives::request request;
    std::uint32_t odd_one = no_rank; // a barrier: this rank gives another value than the others
    calls::call made;                // a computation is laid out like a gather of what it takes
    calls::effects effects;
    std::uint64_t area = 0; // bytes that it has on every rank

    // Its memory beginning at an offset of every rank's segment.
    graph::binding binding(std::uint64_t begin) const;
  };
  static constexpr std::uint32_t no_rank = ~std::uint32_t{0};

  std::uint64_t seed = 0;
  std::uint32_t ranks = 1;
  std::vector<std::uint32_t> nodes;
  std::vector<std::vector<call>> rounds;
  std::uint32_t sluggard = no_rank; // a rank that is often very late
  double late = 0;                  // probability that a rank is late for a call

  std::uint64_t call_bytes() const; // of the largest call
  std::uint64_t heap_bytes() const; // of all that a rank needs
  std::string text() const;
};

struct case_limits {
  std::uint32_t ranks = 16;
  std::uint64_t bytes = 64 * 1024; // all blocks of one rank's buffer
  std::uint32_t calls = 100;       // of one case
};

collective_case make_case(std::uint64_t seed, const case_limits& limits = {});
std::string text_of(const collectives::request& r);

// Lays out what a call with these arguments moves; `seed` decides what only arrays say (sizes, permutation).
collective_case::call lay_out(std::uint32_t ranks, const collectives::request& r, std::uint64_t seed,
                              std::uint64_t most_bytes);

// The serial reference: what the memory of a call holds on a rank before it and after it, by its number in
// the case. `begin` is where that memory lies in every rank's segment.
std::vector<std::byte> memory_before(const collective_case& c, const collective_case::call& k,
                                     std::uint64_t number, std::uint32_t rank, std::uint64_t begin);
std::vector<std::byte> memory_after(const collective_case& c, const collective_case::call& k,
                                    std::uint64_t number, std::uint32_t rank, std::uint64_t begin);
// Empty if the memory in this segment is what it must be afterwards, else what is wrong.
std::string check_memory(const collective_case& c, const collective_case::call& k, std::uint64_t number,
                         std::uint32_t rank, const std::byte* segment, std::uint64_t begin);

inline constexpr std::byte poison{0xEE};
inline constexpr std::uint64_t guard_bytes = 64;

} // namespace weft::tests
