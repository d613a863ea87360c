// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/sorting/sorting.hpp"

#include <algorithm>

namespace weft::sorting {

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
