// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/call.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What all ranks do in one case. A step is for the members of its team only, and they do their steps in this
// order.
namespace calls {

struct step {
  enum class act : std::uint8_t {
    call,          // a one-sided one is for its caller only
    barrier,       // of all threads
    split_barrier, // of all threads, with completions between its halves
    team_barrier,
    team_barrier_nb,
    split,     // the team gives birth to `made`; `colors` and `keys` by its ranks
    from_list, // the team gives birth to made[0], whose members are known
    free,
  };
  act what = act::barrier;
  std::size_t team = 0;
  std::size_t call = 0;
  std::vector<int> colors, keys;
  std::vector<std::size_t> made;
};

struct scenario {
  std::vector<members> teams; // those that were there before, and then those that the steps make
  std::size_t known = 0;      // so many were there; a one-sided call's others are lists
  std::vector<call> calls;
  std::vector<step> steps;
  std::uint64_t used = 0; // bytes of the arena
};

inline constexpr std::uint64_t default_largest = 1 << 20;

// What the caller of draw_places() has chosen.
struct fixed_arguments {
  std::uint64_t bytes;
  std::uint32_t root;
  bool in_place;
};

struct settings {
  std::optional<fixed_arguments> fixed;
  std::uint32_t threads = 1;
  std::uint64_t room = 0; // bytes of the arena
  std::vector<kind> enabled;
  unsigned own_place_percent = 25;         // of the calls that can be in place
  bool one_sided = false;                  // all calls are
  std::uint64_t largest = default_largest; // bytes of a block
  std::size_t fewest_calls = 1, most_calls = 7;
  std::uint64_t era = 16; // cases that some teams live
};

// The steps, one in a line.
std::string describe(const scenario& s);

// The first bytes of the arena are for pointers that no rank may follow.
inline constexpr std::uint64_t trap_bytes = 256;

// Teams that live for several cases.
scenario found_teams(std::uint64_t seed, std::uint64_t era, std::vector<members> known, const settings& s);

scenario generate(std::uint64_t seed, std::uint64_t index, std::vector<members> known, const settings& s);

} // namespace calls
