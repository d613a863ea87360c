// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/simulated/collective_player.hpp"
#include "tests/simulated/control_case.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weft::tests {

// What happened in one run, in order: the simulated ranks take turns on one thread.
using moment = std::uint64_t;

// One region of the heap, as those see it who allocate and free. Judges what the library's books say: no two
// blocks overlap from the answer to the one's allocation to the beginning of its free; and nothing is refused
// that would have fitted all the time, whatever was on its way.
class region_books {
public:
  region_books(std::uint64_t begin, std::uint64_t end) : begin_(begin), end_(end) {}

  std::size_t granted(std::uint64_t offset, std::uint64_t bytes, moment asked) {
    const std::uint64_t size = rounded(bytes);
    if (offset % 64 != 0) throw wrong_result("a block is not aligned");
    if (offset < begin_ || offset + size > end_) throw wrong_result("a block lies outside of its region");
    for (const std::size_t other : live_)
      if (offset < lives_[other].offset + lives_[other].bytes && lives_[other].offset < offset + size)
        throw wrong_result("two blocks overlap");
    lives_.push_back({offset, size, asked, never});
    live_.insert(lives_.size() - 1);
    return lives_.size() - 1;
  }
  void refused(std::uint64_t bytes, moment asked, moment now) {
    refusals_.push_back({0, rounded(bytes), asked, now});
  }
  void freeing(std::size_t block) { live_.erase(block); }
  void freed(std::size_t block, moment now) { lives_[block].to = now; }

  // When all is over.
  void check_refusals() const {
    for (const life& r : refusals_)
      if (largest_gap(r.from, r.to) >= r.bytes) throw wrong_result("what would have fitted was refused");
  }

private:
  static constexpr moment never = ~moment{0};
  struct life {
    std::uint64_t offset, bytes;
    moment from, to;
  };
  static std::uint64_t rounded(std::uint64_t bytes) { return (bytes + 63) / 64 * 64; }

  // Of what no member can have had between these moments.
  std::uint64_t largest_gap(moment from, moment to) const {
    std::map<std::uint64_t, std::uint64_t> taken; // offset, end
    for (const life& l : lives_)
      if (l.from <= to && l.to >= from) taken[l.offset] = std::max(taken[l.offset], l.offset + l.bytes);
    std::uint64_t at = begin_, most = 0;
    for (const auto& [offset, end] : taken) {
      if (offset > at) most = std::max(most, offset - at);
      at = std::max(at, end);
    }
    return std::max(most, end_ - at);
  }

  const std::uint64_t begin_, end_;
  std::vector<life> lives_, refusals_;
  std::set<std::size_t> live_;
};

// All teams of a run, as their members see them.
class team_books {
public:
  explicit team_books(const control_case& c) : case_(c), teams_(c.teams.size()) {}

  void begins(std::size_t team, moment now) { teams_[team].begun = std::min(teams_[team].begun, now); }

  // A member of the parent hears whether there is room; all hear the same.
  void heard(std::size_t team, bool placed) {
    record& r = teams_[team];
    if (r.placed.value_or(placed) != placed) throw wrong_result("only some heard that there is no room");
    r.placed = placed;
  }
  // A member has got it: the same as all others, and no other ever gets it, or its place as long as a
  // member has not freed it.
  void got(std::size_t team, std::uint64_t handle, std::uint64_t place) {
    record& r = teams_[team];
    if (r.handle == handle && r.place == place) return;
    if (r.handle != 0) throw wrong_result("two members got different teams");
    if (!handles_.insert(handle).second) throw wrong_result("two teams have the same number");
    const std::uint64_t least = engine::mailbox::bytes(1);
    for (const record& other : teams_)
      if (other.handle != 0 && other.gone == never && place < other.place + least &&
          other.place < place + least)
        throw wrong_result("two teams have the same place");
    r.handle = handle;
    r.place = place;
  }
  void freed(std::size_t team, moment now) {
    if (++teams_[team].times_freed == case_.teams[team].size()) teams_[team].gone = now;
  }

  // Teams that may have had a place at some time from then on.
  std::uint32_t places_since(moment asked) const {
    return static_cast<std::uint32_t>(std::ranges::count_if(teams_, [&](const record& r) {
      return r.begun != never && r.placed.value_or(true) && r.gone >= asked;
    }));
  }

private:
  static constexpr moment never = ~moment{0};
  struct record {
    moment begun = never, gone = never;
    std::optional<bool> placed;
    std::uint64_t handle = 0, place = 0;
    std::size_t times_freed = 0;
  };
  const control_case& case_;
  std::vector<record> teams_;
  std::set<std::uint64_t> handles_;
};

} // namespace weft::tests
