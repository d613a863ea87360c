// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/node.hpp"
#include "engine/plan/plan.hpp"

#include <string>

namespace weft::graph {

// A node in a few words, its peer as a rule: "get from each", "await delivered 12", "claim in, if near".
std::string describe(const node& n);

// A picture of a plan for Graphviz (`dot -Tsvg`): nodes with their numbers, loops as boxes around their
// bodies.
std::string to_dot(const plan& p);

} // namespace weft::graph
