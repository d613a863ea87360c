// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/dice.hpp"
#include "tests/calls/scenario.hpp"

#include <cstddef>

namespace calls {

// Adds a step that makes teams of the members of `parent`, in one of the two ways.
void make_teams(scenario& s, std::size_t parent, dice& d);

} // namespace calls
