#pragma once
#include "engine/sorting/run_merges.hpp"
#include "engine/sorting/stage.hpp"

namespace weft::sorting {

// Stage 0: what is mine to work on, brought into line if need be, is put in order where I have my part of the
// array. By comparisons: blocks that stay in the cache, then levels of merges. By the bytes of a key: they
// are counted once, and dealt byte by byte.
class own_elements : stage {
public:
  using stage::stage;

  bool run() { return run_parts(*this, parts); }
  // What another member has of them before they stand in line.
  graph::part part_of(std::uint32_t peer) const;

private:
  bool stand_in_line();
  bool bring_into_line();
  bool sort_blocks();
  bool merge_blocks() { return by_digits() || merges().until(1, left_); }
  bool count_digits();
  bool deal_digits();
  bool put_back();
  bool take_samples();
  static constexpr std::array<bool (own_elements::*)(), 8> parts{
      &own_elements::stand_in_line, &own_elements::bring_into_line, &own_elements::sort_blocks,
      &own_elements::merge_blocks,  &own_elements::count_digits,    &own_elements::deal_digits,
      &own_elements::put_back,      &own_elements::take_samples};

  std::uint64_t line_begin() const;
  reductions::layout::span span_of_line(std::uint32_t member, std::uint64_t begin) const {
    return of_.of_thread(thread(member), begin, begin + mine());
  }
  const std::byte* brought(std::uint32_t thread, std::uint64_t address) const;
  bool begin_digit(std::uint64_t* next) const;

  // They and a buffer for as many: they are in the first of the two.
  std::byte* from() const { return sorting_.dealt ? room_.first() : own(); }
  std::byte* buffer() const { return sorting_.dealt ? own() : room_.first(); }
  run_merges merges() const { return {sorting_, room_, from(), buffer()}; }
  bool by_digits() const { return sorting_.how.digits != 0; }
};

} // namespace weft::sorting
