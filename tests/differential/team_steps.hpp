#pragma once
#include "tests/differential/dice.hpp"
#include "tests/differential/scenario.hpp"

#include <cstddef>

namespace differential {

// Adds a step that makes teams of the members of `parent`, in one of the two ways.
void make_teams(scenario& s, std::size_t parent, dice& d);

} // namespace differential
