#pragma once
#include "engine/plan/plan.hpp"
#include "engine/topology/topology.hpp"

namespace weft::graph {

// Notes the region of each step that moves one which is the same in every execution: so the executor need
// not resolve it again. What each_move says of the step is what is noted.
void settle(plan& p, const topology& g);

} // namespace weft::graph
