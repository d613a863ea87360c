// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/algorithm.hpp"
#include "engine/collectives/sync_modes.hpp"
#include "engine/plan/peers.hpp"

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

} // namespace weft::collectives
