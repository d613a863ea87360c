#pragma once
#include "tests/differential/arena.hpp"
#include "tests/differential/completions.hpp"
#include "tests/differential/ledger.hpp"
#include "tests/differential/report.hpp"
#include "tests/differential/scenario.hpp"

#include <vector>
#include <weft/weft.hpp>

namespace differential {

// Teams as all ranks know them, and their handles here, 0 where this rank is no member.
struct known_teams {
  std::vector<members> threads;
  std::vector<upc_team_t> handles;
};

// Does the steps of a scenario that make teams and free them.
void make_teams(const step& now, const scenario& s, std::vector<upc_team_t>& handles);

struct play_options {
  unsigned patience_seconds = 60;
  bool corrupt_reference = false;
};

// One case on this rank, from the painting of the memory to the last comparison. Collective.
void play(const scenario& s, std::vector<upc_team_t> handles, const paints& colours, dice own,
          const arena& memory, report& tell, const play_options& options);

} // namespace differential
