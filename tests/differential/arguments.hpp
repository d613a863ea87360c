#pragma once
#include "tests/differential/dice.hpp"
#include "tests/differential/layout.hpp"
#include "tests/differential/scenario.hpp"

namespace differential {

// Draws everything of a call but its team, which is chosen, and takes the memory for it.
call draw_call(kind what, std::size_t team, const scenario& s, const settings& limits, symmetric_space& space,
               dice& d, bool small);

} // namespace differential
