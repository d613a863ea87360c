#include "engine/plan/peers.hpp"

#include "engine/topology/rounds.hpp"
#include "engine/topology/tree.hpp"

#include <bit>

namespace weft::graph {

namespace {

// A step in a cycle of `size`, as many places ahead as the round says, or behind.
std::uint32_t in_round(std::uint32_t at, std::uint32_t size, bool ahead, std::uint32_t round) {
  const std::uint32_t distance = (std::uint32_t{1} << round) % size;
  return (ahead ? at + distance : at + size - distance) % size;
}

// My node's place in a tree that begins at the root's node, and the node at a place.
std::uint32_t vertex_of(const plan& p, const geometry& g) {
  return (g.node(p.me) + g.nodes() - g.node(p.root)) % g.nodes();
}
std::uint32_t leader_at(const plan& p, const geometry& g, std::uint32_t vertex) {
  return leader_of(p, g, (vertex + g.node(p.root)) % g.nodes());
}

std::uint32_t length(const std::vector<std::uint32_t>& members) {
  return static_cast<std::uint32_t>(members.size());
}

} // namespace

std::uint32_t leader_of(const plan& p, const geometry& g, std::uint32_t node) {
  return node == g.node(p.root) ? p.root : g.in_node_order(g.first(node));
}

std::uint32_t count_of(const plan& p, const geometry& g, range over) {
  constexpr std::uint32_t any_number = ~std::uint32_t{0};
  const std::uint32_t nodes = g.nodes();
  const bool leader = leads(p, g);
  switch (over) {
  case range::root:
  case range::named:
  case range::naming:
    return 1;
  case range::near:
    return length(g.near());
  case range::far:
    return length(g.far());
  case range::led:
    return length(g.led());
  case range::leading:
    return length(g.leading());
  case range::others:
    return g.size() - 1;
  case range::rounds:
    return dissemination_rounds(g.size());
  case range::leaders:
    return leader ? nodes - 1 : 0;
  case range::leader:
    return leader ? 0 : 1;
  case range::parent:
    return leader && p.radix >= 2 && p.me != p.root ? 1 : 0;
  case range::children:
    return leader && p.radix >= 2 ? tree::children(vertex_of(p, g), nodes, p.radix) : 0;
  case range::next:
    return leader && nodes > 1 ? any_number : 0;
  case range::follow:
    return leader ? 0 : any_number;
  case range::node_rounds:
    return leader ? dissemination_rounds(nodes) : 0;
  case range::partners:
    return leader && std::has_single_bit(nodes) ? static_cast<std::uint32_t>(std::countr_zero(nodes)) : 0;
  }
  return 0;
}

std::uint32_t staged_peer(const plan& p, const geometry& g, range over, peer_rule rule, std::uint32_t step) {
  const std::uint32_t nodes = g.nodes(), mine = g.node(p.me);
  switch (over) {
  case range::others:
    return (p.me + 1 + step) % g.size();
  case range::rounds:
    return in_round(p.me, g.size(), rule == peer_rule::ahead, step);
  case range::leaders:
    return leader_of(p, g, (mine + 1 + step) % nodes);
  case range::leader:
  case range::follow:
    return leader_of(p, g, mine);
  case range::parent:
    return leader_at(p, g, tree::parent(vertex_of(p, g), p.radix));
  case range::children:
    return leader_at(p, g, tree::child(vertex_of(p, g), nodes, p.radix, step));
  case range::next:
    return leader_of(p, g, (mine + nodes - 1) % nodes);
  case range::node_rounds: // counted downwards: who is ahead of me takes what I send
    return leader_of(p, g, in_round(mine, nodes, rule != peer_rule::ahead, step));
  case range::partners:
    return leader_of(p, g, mine ^ (std::uint32_t{1} << step));
  default:
    return found_by_rows;
  }
}

} // namespace weft::graph
