// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/sorting/room.hpp"

namespace weft::sorting {

// Where the elements of all members are cut into buckets. Of the samples, put in order, those are chosen in
// front of which about so many elements lie as the buckets before are to have.
class cuts {
public:
  cuts(const sorting_task& s, const room& r, const graph::work& w) : sorting_(s), room_(r), work_(w) {}

  // Samples of my elements, which are in order.
  void sample(std::byte* row, const std::byte* elements, std::uint64_t count) const;
  // The beginning of each bucket among my elements; `rows` are the samples of all.
  void make(std::uint64_t* mine, const std::byte* rows, const std::byte* elements) const;
  // My bucket, from the cuts of all.
  void read(const std::byte* rows) const;

private:
  // A sample is one of a member's, which stands at this place in line.
  struct sample_of {
    std::uint32_t place, number;
  };
  sample_of which(std::uint32_t id) const;
  std::uint64_t count(std::uint32_t place) const { return room_.counts()[place]; }
  std::uint64_t position(std::uint32_t place, std::uint64_t number) const;
  std::uint32_t put_in_order(const std::byte* rows) const;
  bool comes_before(const std::byte* rows, std::uint32_t a, std::uint32_t b) const;
  const std::byte* element(const std::byte* rows, std::uint32_t id) const;
  std::uint64_t in_front(const std::byte* elements, const std::byte* sample, bool equal_too) const;
  std::uint64_t cut(const std::byte* rows, std::uint32_t place, std::uint32_t bucket) const;
  std::uint64_t target(std::uint32_t bucket) const;
  std::uint64_t by_number(std::uint32_t place, std::uint32_t bucket) const;
  bool in_bounds(const std::byte* rows) const;

  const sorting_task& sorting_;
  const room& room_;
  const graph::work& work_;
};

} // namespace weft::sorting
