#pragma once
#include "engine/collectives/request.hpp"

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
  };
  static constexpr std::uint32_t no_rank = ~std::uint32_t{0};

  std::uint64_t seed = 0;
  std::uint32_t ranks = 1;
  std::vector<std::uint32_t> nodes;
  std::vector<std::vector<call>> rounds;
  std::uint32_t sluggard = no_rank; // a rank that is often very late
  double late = 0;                  // probability that a rank is late for a call
  std::uint64_t skew = 0;           // misalignment of all buffers

  std::uint64_t stride() const;     // bytes from one buffer to the next
  std::uint64_t heap_bytes() const; // of all buffers of a rank
  std::string text() const;
};

struct case_limits {
  std::uint32_t ranks = 16;
  std::uint64_t bytes = 64 * 1024; // all blocks of one rank's buffer
  std::uint32_t calls = 100;       // of one case
};

collective_case make_case(std::uint64_t seed, const case_limits& limits = {});
std::string text_of(const collectives::request& r);

// What the source buffers hold, by number of the call in the case, sender, receiver and place: the serial
// reference.
std::byte sent_byte(std::uint64_t call, std::uint32_t from, std::uint32_t to, std::uint64_t at);
std::uint64_t source_bytes(const collective_case& c, const collectives::request& r, std::uint32_t rank);
std::uint64_t destination_bytes(const collective_case& c, const collectives::request& r, std::uint32_t rank);
void fill_source(const collective_case& c, const collectives::request& r, std::uint64_t call,
                 std::uint32_t rank, std::byte* source);
// Empty if the destination is what it must be, else what is wrong.
std::string check_destination(const collective_case& c, const collectives::request& r, std::uint64_t call,
                              std::uint32_t rank, const std::byte* destination);

inline constexpr std::byte poison{0xEE};
inline constexpr std::uint64_t guard_bytes = 64;

} // namespace weft::tests
