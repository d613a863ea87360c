#pragma once
#include "engine/plan/plan.hpp"

#include <string>

namespace weft::graph {

// A picture of a plan for Graphviz (`dot -Tsvg`): nodes with their numbers, loops as boxes around their
// bodies.
std::string to_dot(const plan& p);

} // namespace weft::graph
