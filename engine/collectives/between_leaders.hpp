// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/hierarchical.hpp"
#include "engine/collectives/relocate.hpp"

#include <cstdint>

namespace weft::collectives {

// What the leaders of the hosts do among each other, as parts of plans. A part begins behind `after` and is
// done with the nodes that it returns. `at` is where the block of a member lies in the destination (and in
// the source, of a scatter). For a leader; each part counts for itself.

// The root puts the blocks of a host's members to its leader. Each other leader waits for its own.
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

// Rounds in which each rank hears of radix times as many hosts as before. A higher radix has fewer rounds,
// each of radix - 1 messages that are under way together: fewer hops, shorter messages, more of them.

struct dissemination {
  std::uint32_t radix = 0;    // 0: there is none whose messages fit
  std::uint64_t most = 0;     // blocks in its longest message
  std::uint64_t cost = 0;     // of its rounds
  std::uint32_t messages = 0; // of a member
  explicit operator bool() const { return radix != 0; }
};

// So many members of a host take part, and each sends `blocks(radix, step)` blocks of so many bytes in a
// step.
template <class Blocks>
dissemination disseminated(std::uint32_t radix, const graph::topology& g, const cost_model& c,
                           std::uint32_t of_host, std::uint64_t bytes, const Blocks& blocks) {
  dissemination made{radix};
  made.messages = graph::dissemination_steps(g.hosts(), radix);
  const std::uint32_t rounds = (made.messages + radix - 2) / (radix - 1);
  made.cost = rounds * c.table().latency;
  for (std::uint32_t step = 0; step < made.messages; ++step) {
    const std::uint64_t count = blocks(radix, graph::round_step_of(step, radix));
    made.most = std::max(made.most, count);
    made.cost += c.handled(of_host, count * bytes) + c.packs(2 * count, bytes);
  }
  return made;
}

// A round has at most as many messages as a loop has under way together. One round alone need not come behind
// another, and may have more: so the highest radix is the number of hosts, where each block goes to its host
// at once.
inline constexpr std::uint32_t most_radix_of_rounds = 64;

// The cheapest one whose messages fit.
template <class Blocks>
dissemination best_dissemination(const graph::topology& g, const tuning& t, std::uint32_t of_host,
                                 std::uint64_t bytes, const Blocks& blocks) {
  dissemination best;
  const auto look_at = [&](std::uint32_t radix) {
    const dissemination d = disseminated(radix, g, cost_model(t.costs), of_host, bytes, blocks);
    if (d.most * bytes <= payload_from(d.messages, t) && (!best || d.cost < best.cost)) best = d;
  };
  for (std::uint32_t radix = 2; radix <= std::min(g.hosts(), most_radix_of_rounds); ++radix)
    look_at(radix);
  if (g.hosts() > most_radix_of_rounds) look_at(g.hosts());
  return best;
}

// Each step puts its blocks together in scratch, out of where they lie, and sends them; and takes those that
// come. All members' plans have this radix.
graph::node_set disseminate(hierarchical& s, const dissemination& d, const graph::range& over,
                            const graph::blocks& of, graph::operand where, graph::node_set after);

} // namespace weft::collectives
