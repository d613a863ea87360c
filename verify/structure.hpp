#pragma once
#include "engine/topology/topology.hpp"
#include "verify/report.hpp"

namespace weft::graph::checking {

// Each plan by itself: indices, edges, operands, bounds. Without findings the plans may be unfolded.
void check_structure(std::span<const plan> plans, const std::vector<topology>& places, report& out);

// What the members' plans must have in common.
void check_agreement(std::span<const plan> plans, report& out);

} // namespace weft::graph::checking
