// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/request.hpp"

#include <cstdint>
#include <vector>

namespace weft::tests {

// A random program of what ranks ask of each other, one for all: teams made, used and freed, and memory
// allocated and freed together. Who is in which team is computed here, serially, by the rule of the texts.
struct control_case {
  static constexpr std::size_t none = ~std::size_t{0};
  static constexpr std::uint64_t most_bytes = 2500; // of a block of a collective

  enum class effect : std::uint8_t {
    allocate,
    free_together,
    split,
    make,
    make_of_two_lists,
    free,
    collective
  };
  struct step {
    effect what = effect::collective;
    std::size_t team = 0;     // that takes part; 0 is the team of all
    std::uint64_t bytes = 0;  // of an allocation
    bool kept = false;        // allocate: it is freed together
    std::size_t block = none; // free_together: what this step allocated; none: what `rank` keeps
    std::uint32_t rank = 0;
    bool twice = false;                      // free_together: once with a wrong offset before
    std::vector<int> colors = {}, keys = {}; // by member
    std::vector<std::uint32_t> list = {};    // ranks of the job
    std::vector<std::size_t> made = {};      // by member: the team that it gets, or hears of
    collectives::request call = {};
    std::size_t area = 0;    // of a collective
    std::uint32_t times = 1; // it is posted, without waiting between
  };

  std::uint64_t seed = 0;
  std::uint32_t ranks = 1;
  std::vector<std::uint32_t> nodes;
  std::uint64_t heap_bytes = 0;
  std::uint32_t team_places = 0;                 // there is memory for so many teams; 0: for all
  std::uint32_t sluggard = 0;                    // is often very late
  std::vector<std::vector<std::uint32_t>> teams; // their members' ranks of the job
  std::vector<step> steps;
  std::size_t areas = 0;

  bool scarce() const { return team_places != 0; }
  std::uint32_t member(std::size_t team, std::uint32_t rank) const; // the team's size if it is none
};

control_case make_control_case(std::uint64_t seed);

} // namespace weft::tests
