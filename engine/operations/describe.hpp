#pragma once
#include "engine/plan/node.hpp"

#include <string>

namespace weft::graph {

// A node in a few words, its peer as a rule: "get from each", "await delivered 12", "claim in, if near".
std::string describe(const node& n);

} // namespace weft::graph
