#pragma once
#include "engine/plan/plan.hpp"
#include "engine/topology/topology.hpp"

namespace weft::graph {

// One member of each node acts for it between nodes, the leader: the root on its own node, the first member
// on every other. Nodes are numbered in the order of their first members; in trees they are counted from the
// root's.
std::uint32_t leader_of(const plan& p, const geometry& g, std::uint32_t node);
inline bool leads(const plan& p, const geometry& g) {
  return leader_of(p, g, g.node(p.me)) == p.me;
}

// How many peers a range has for me: the most iterations of a loop over it.
std::uint32_t count_of(const plan& p, const geometry& g, range over);

inline constexpr std::uint32_t found_by_rows = ~std::uint32_t{0};
// The same among leaders, and in rounds: what peer_at leaves to it.
std::uint32_t staged_peer(const plan& p, const geometry& g, range over, peer_rule rule, std::uint32_t step);

// The peer of a step of a loop; found_by_rows where a row names it. Asked at every step: what is only looked
// up is so here.
inline std::uint32_t peer_at(const plan& p, const geometry& g, range over, peer_rule rule,
                             std::uint32_t step) {
  switch (over) {
  case range::root:
    return p.root;
  case range::near:
    return g.near()[step];
  case range::far:
    return g.far()[step];
  case range::led:
    return g.led()[step];
  case range::leading:
    return g.leading()[step];
  case range::named:
  case range::naming:
    return found_by_rows;
  default:
    return staged_peer(p, g, over, rule, step);
  }
}

} // namespace weft::graph
