#pragma once
#include "engine/collectives/request.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::tests {

// A random program of collectives, the same for all ranks: rounds of operations that are in flight together.
struct collective_case {
  // A block that a call moves, by places in the source and destination areas of the two ranks.
  struct moved {
    std::uint32_t from, to;
    std::uint64_t src, dst, bytes;
  };
  struct call {
    collectives::request request;
    std::uint32_t odd_one = no_rank; // a barrier: this rank gives another value than the others
    std::vector<std::uint32_t> perm; // of permute, permute_x
    std::vector<moved> blocks;
    std::uint64_t area = 0; // bytes of the largest source or destination
  };
  static constexpr std::uint32_t no_rank = ~std::uint32_t{0};

  std::uint64_t seed = 0;
  std::uint32_t ranks = 1;
  std::vector<std::uint32_t> nodes;
  std::vector<std::vector<call>> rounds;
  std::uint32_t sluggard = no_rank; // a rank that is often very late
  double late = 0;                  // probability that a rank is late for a call
  std::uint64_t skew = 0;           // misalignment of all buffers

  std::uint64_t stride() const;    // bytes from one area to the next
  std::uint64_t row_bytes() const; // of a call's arrays on one rank
  std::uint64_t call_bytes() const { return 2 * stride() + row_bytes(); }
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

// Where the parts of a call lie in every rank's segment: two areas, and rows of four arrays.
struct call_places {
  std::uint64_t dst_area, src_area, dst_rows, src_rows, sizes, perm;
  graph::binding binding(const collectives::request& r) const;
};
call_places places_of(const collective_case& c, std::uint64_t begin);

// The serial reference. What the areas of a rank hold before a call, by number of the call in the case, and
// what its destination holds after it; and the rows of the call's arrays that lie on the rank.
std::vector<std::byte> source_before(const collective_case& c, const collective_case::call& k,
                                     std::uint64_t number, std::uint32_t rank);
std::vector<std::byte> destination_after(const collective_case& c, const collective_case::call& k,
                                         std::uint64_t number, std::uint32_t rank);
void write_rows(const collective_case& c, const collective_case::call& k, std::uint32_t rank,
                std::byte* segment, const call_places& at);
// Empty if the destination area is what it must be, else what is wrong.
std::string check_destination(const collective_case& c, const collective_case::call& k, std::uint64_t number,
                              std::uint32_t rank, const std::byte* destination);

inline constexpr std::byte poison{0xEE};
inline constexpr std::uint64_t guard_bytes = 64;

} // namespace weft::tests
