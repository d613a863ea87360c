// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/hierarchical.hpp"

namespace weft::collectives {

// What the leaders of the hosts do among each other, as parts of plans. A part begins behind `after` and is
// done with the nodes that it returns. `at` is where the block of a member lies in the destination (and in
// the source, of a scatter). For a leader; each part counts for itself.

// The root puts the blocks of a host's members to its leader. Everybody else waits for his.
graph::node_set scatter_to_leaders(hierarchical& s, std::uint8_t at, graph::node_set after);
std::uint64_t cost_of_scatter_to_leaders(std::uint64_t bytes, const graph::topology& g, const cost_model& c);

// Blocks go around the ring to the leader before me: first those of my own host, then what I receive, each as
// soon as it is there.
graph::node_set ring_of_leaders(hierarchical& s, std::uint8_t at, graph::node_set after);
std::uint64_t cost_of_ring_of_leaders(std::uint64_t bytes, const graph::topology& g, const cost_model& c);

// A power of two of hosts: in round k two whose numbers differ in bit k swap all blocks that each has by
// then. `told`: the neighbours hear of each round.
graph::node_set doubling_of_leaders(hierarchical& s, std::uint8_t at, bool told, graph::node_set after);
std::uint64_t cost_of_doubling_of_leaders(std::uint64_t bytes, const graph::topology& g, const cost_model& c);

} // namespace weft::collectives
