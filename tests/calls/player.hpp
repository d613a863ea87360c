// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/arena.hpp"
#include "tests/calls/away.hpp"
#include "tests/calls/completions.hpp"
#include "tests/calls/ledger.hpp"
#include "tests/calls/report.hpp"
#include "tests/calls/scenario.hpp"

#include <vector>
#include <weft/weft.hpp>

namespace calls {

// Teams as all ranks know them, and their handles here, 0 where this rank is no member.
struct known_teams {
  std::vector<members> threads;
  std::vector<upc_team_t> handles;
};

// Does the steps of a scenario that make teams and free them.
void make_teams(const step& now, const scenario& s, std::vector<upc_team_t>& handles);

// How a job plays its cases.
struct manners {
  std::uint32_t late_thread = no_thread; // the only one that comes late; no_thread: any
  unsigned late_percent = 0, late_us = 0;
  std::size_t depth = ~std::size_t{0}; // operations under way at most
  bool eager = true;                   // it completes what it can after each step
  // This thread is away behind each of its posts, until all other members of the team have completed all that
  // they have posted; of a one-sided call all but its caller are.
  std::uint32_t away_thread = no_thread;
};

struct play_options {
  manners how;
  bool corrupt_reference = false;
  const blackboard* board = nullptr; // if a thread is away
};

// One case on this rank, from the painting of the memory to the last comparison. Collective.
void play(const scenario& s, std::uint64_t index, std::vector<upc_team_t> handles, const paints& colours,
          dice own, const arena& memory, report& tell, helpers& others, const play_options& options);

} // namespace calls
