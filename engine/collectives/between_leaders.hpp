// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/algorithm.hpp"
#include "engine/collectives/relocate.hpp"
#include "engine/collectives/sync_modes.hpp"
#include "engine/plan/resolve.hpp"

#include <cstdint>

namespace weft::collectives {

// What all algorithms that hand data on between hosts have in common. They begin behind the gate of IN_ALL,
// so each rank has entered and every destination may be written. One member of each host, its leader, takes
// part between hosts; its neighbours copy from its destination, one level, as soon as the data are there.
class hierarchical {
public:
  hierarchical(const request& r, graph::pattern pairs, const graph::block_rule& rule,
               const graph::topology& g, const tuning& t);

  graph::plan& p() { return b.draft(); }
  graph::builder b;
  const graph::topology& g;
  sync_modes modes;
  graph::node_set gate = 0;
  bool root = false;   // I have the data
  bool leader = false; // I act for my host

  bool at_roots_node() const { return g.is_near(root_); }
  std::uint32_t near() const { return static_cast<std::uint32_t>(g.near().size()); }
  // The block of the member that a step is about, wherever it lies in all destinations.
  std::uint8_t of_member() {
    return b.add_place({.owner = p().places[graph::in_destination].from, .bytes = p().block()});
  }
  // The step's piece of the block.
  std::uint8_t of_piece(std::uint64_t bytes) {
    return b.add_place({.step = bytes, .bytes = bytes, .end = p().block()});
  }
  // Blocks one behind the other.
  std::uint8_t of_message() { return b.add_place({.turn = p().block(), .bytes = p().block()}); }
  // Keeps as many puts of this size under way as the wire needs.
  void stream(std::uint64_t bytes, const tuning& t);
  // Messages of up to so many bytes.
  void sends(std::uint64_t bytes);
  // How many far peers a range has for me.
  std::uint32_t count(const graph::range& over) { return over.count(p(), g); }
  // One step for each of a range.
  graph::node_set each(const graph::range& over, std::uint32_t iterations, const graph::node& step,
                       graph::node_set after = 0);
  // What the root's neighbours do: copy for themselves, and tell it.
  graph::node_set read_from_root();
  // Under OUT_MY a leader leaves when its neighbours have read: they say so.
  graph::node_set tell_leader(graph::node_set after);
  // What I must have heard before I say, in the last rounds, that all is in place here: neighbours that read
  // it from me say so as well.
  graph::node_set unless_neighbours_read(graph::node_set n) const { return near() == 0 ? n : 0; }
  // `readers`: how many members say that they have read my data; `writers`: that they have brought some.
  graph::plan finish(graph::node_set data, std::uint32_t readers, std::uint32_t writers = 0);

private:
  std::uint32_t root_;
};

// What the leaders of the hosts do among each other, as parts of plans. A part begins behind `after` and is
// done with the nodes that it returns. `at` is where the block of a member lies in the destination (and in
// the source, of a scatter). For a leader; each part counts for itself.

// Blocks that come into a host from others, if all have as many members and each has one.
std::uint64_t into_node(const graph::topology& g);

// The root puts the blocks of a host's members, or what else is for that host, to its leader. Each other
// leader waits for its own.
graph::node_set scatter_to_leaders(hierarchical& s, std::uint8_t at, graph::node_set after,
                                   const graph::blocks& of = graph::blocks::of_host);
// `moved`: bytes out of the root's host.
std::uint64_t cost_of_scatter_to_leaders(std::uint64_t moved, const graph::topology& g, const cost_model& c);

// Blocks go around the ring to the leader before me: first those of my own host, then what I receive, each as
// soon as it is there.
graph::node_set ring_of_leaders(hierarchical& s, std::uint8_t at, graph::node_set after);
std::uint64_t cost_of_ring_of_leaders(std::uint64_t bytes, const graph::topology& g, const cost_model& c);

// A power of two of hosts: in round k two whose numbers differ in bit k swap all blocks that each has by
// then; or other partners, of other blocks. `told`: the neighbours hear of each round.
graph::node_set doubling_of_leaders(hierarchical& s, std::uint8_t at, bool told, graph::node_set after,
                                    const graph::range& with = graph::range::partners,
                                    const graph::blocks& of = graph::blocks::half);
// `moved`: bytes into each host, by so many puts.
std::uint64_t cost_of_doubling_of_leaders(std::uint64_t moved, std::uint64_t puts, const graph::topology& g,
                                          const cost_model& c);

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
