// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/dice.hpp"
#include "tests/calls/layout.hpp"
#include "tests/calls/scenario.hpp"

namespace calls {

// Draws everything of a call but its team, which is chosen, and takes the memory for it.
call draw_call(kind what, std::size_t team, const scenario& s, const settings& limits, symmetric_space& space,
               dice& d, bool small);

// Draws where the blocks and arrays of a call that moves data lie, with what `limits` fix.
void draw_places(call& c, const members& team, const settings& limits, symmetric_space& space, dice& d);

} // namespace calls
