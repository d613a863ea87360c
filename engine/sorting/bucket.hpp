#pragma once
#include "engine/sorting/run_merges.hpp"
#include "engine/sorting/stage.hpp"

namespace weft::sorting {

// Stages 2 and 3: my bucket comes together, a run from each member as they stand in line, and is merged. Its
// elements go to where they belong in the array, those for others to where they are put from: the buffer that
// the last two runs are not in.
class bucket : stage {
public:
  using stage::stage;

  bool take() { return run_parts(*this, parts_of_taking); }
  bool merge() { return run_parts(*this, parts_of_merging); }
  // What another member has of it, and what it gets.
  graph::part part_of(std::uint32_t peer) const;
  graph::part results_of(std::uint32_t peer) const;

private:
  bool read_cuts();
  bool take_own();
  static constexpr std::array<bool (bucket::*)(), 2> parts_of_taking{&bucket::read_cuts, &bucket::take_own};

  bool merge_runs() { return runs().until(2, left_); }
  bool begin_results();
  bool merge_results();
  static constexpr std::array<bool (bucket::*)(), 3> parts_of_merging{
      &bucket::merge_runs, &bucket::begin_results, &bucket::merge_results};

  run_merges runs() const { return {sorting_, room_, room_.first(), room_.second()}; }
  std::byte* result(std::uint32_t member, std::uint64_t address) const;
  void spread(const std::byte* elements, std::uint64_t count, std::uint64_t index);
};

} // namespace weft::sorting
