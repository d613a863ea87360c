#include "engine/plan/stages.hpp"

#include <algorithm>
#include <bit>

namespace weft::graph {

std::uint32_t leader_of(const plan& p, const geometry& g, std::uint32_t node) {
  return node == g.node(p.root) ? p.root : g.in_node_order(g.first(node));
}

namespace tree {

namespace {
// The place value of a vertex's lowest digit; for 0 the first power that is not below the size.
std::uint64_t lowest(std::uint32_t vertex, std::uint32_t size, std::uint32_t radix) {
  std::uint64_t weight = 1;
  while (vertex == 0 ? weight < size : vertex % (weight * radix) == 0)
    weight *= radix;
  return weight;
}
} // namespace

std::uint32_t parent(std::uint32_t vertex, std::uint32_t radix) {
  return vertex - static_cast<std::uint32_t>(vertex % (lowest(vertex, 0, radix) * radix));
}

std::uint32_t children(std::uint32_t vertex, std::uint32_t size, std::uint32_t radix) {
  std::uint32_t count = 0;
  for (std::uint64_t weight = lowest(vertex, size, radix) / radix; weight != 0; weight /= radix) {
    const std::uint64_t room = (size - 1 - vertex) / weight;
    count += static_cast<std::uint32_t>(std::min<std::uint64_t>(radix - 1, room));
  }
  return count;
}

std::uint32_t child(std::uint32_t vertex, std::uint32_t size, std::uint32_t radix, std::uint32_t number) {
  for (std::uint64_t weight = lowest(vertex, size, radix) / radix; weight != 0; weight /= radix) {
    const auto here =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(radix - 1, (size - 1 - vertex) / weight));
    if (number < here) return vertex + static_cast<std::uint32_t>((number + 1) * weight);
    number -= here;
  }
  return vertex;
}

std::uint32_t depth(std::uint32_t size, std::uint32_t radix) {
  std::uint32_t levels = 0;
  for (std::uint64_t reach = 1; reach < size; reach *= radix)
    ++levels;
  return levels;
}

} // namespace tree

bool is_staged(range over) {
  return over >= range::leader && over <= range::partners;
}

std::uint32_t staged_peer(const plan& p, const geometry& g, range over, peer_rule rule,
                          std::uint32_t iteration) {
  const std::uint32_t nodes = g.nodes(), mine = g.node(p.me), top = g.node(p.root);
  const std::uint32_t vertex = (mine + nodes - top) % nodes;
  switch (over) {
  case range::leader:
  case range::follow:
    return leader_of(p, g, mine);
  case range::parent:
    return leader_of(p, g, (tree::parent(vertex, p.radix) + top) % nodes);
  case range::children:
    return leader_of(p, g, (tree::child(vertex, nodes, p.radix, iteration) + top) % nodes);
  case range::next:
    return leader_of(p, g, (mine + nodes - 1) % nodes);
  case range::node_rounds: {
    const std::uint32_t distance = (std::uint32_t{1} << iteration) % nodes;
    const std::uint32_t node = rule == peer_rule::ahead ? mine + nodes - distance : mine + distance;
    return leader_of(p, g, node % nodes);
  }
  case range::partners:
    return leader_of(p, g, mine ^ (std::uint32_t{1} << iteration));
  default:
    return p.me;
  }
}

// Of a range that is as long as it is asked to be.
constexpr std::uint32_t any_number = ~std::uint32_t{0};

std::uint32_t staged_size(const plan& p, const geometry& g, range over) {
  const std::uint32_t nodes = g.nodes(), mine = g.node(p.me), top = g.node(p.root);
  switch (over) {
  case range::leader:
    return leads(p, g) ? 0 : 1;
  case range::parent:
    return leads(p, g) && p.radix >= 2 && p.me != p.root ? 1 : 0;
  case range::children:
    return leads(p, g) && p.radix >= 2 ? tree::children((mine + nodes - top) % nodes, nodes, p.radix) : 0;
  case range::next:
    return leads(p, g) && nodes > 1 ? any_number : 0;
  case range::follow:
    return leads(p, g) ? 0 : any_number;
  case range::node_rounds:
    return leads(p, g) && nodes > 1 ? static_cast<std::uint32_t>(std::bit_width(nodes - 1)) : 0;
  case range::partners:
    return leads(p, g) && std::has_single_bit(nodes) ? static_cast<std::uint32_t>(std::countr_zero(nodes))
                                                     : 0;
  default:
    return 0;
  }
}

member_run sent_in_round(const geometry& g, std::uint32_t node, std::uint32_t round) {
  const std::uint32_t nodes = g.nodes();
  const std::uint32_t known = std::min(std::uint32_t{1} << round, nodes - (std::uint32_t{1} << round));
  member_run run{g.first(node), 0};
  for (std::uint32_t k = 0; k < known; ++k)
    run.count += g.members((node + k) % nodes);
  return run;
}

member_run half_in_round(const geometry& g, std::uint32_t node, std::uint32_t round) {
  const std::uint32_t first = node >> round << round;
  const std::uint32_t begin = g.first(first);
  return {begin, g.first(first + (std::uint32_t{1} << round)) - begin};
}

bool in_rank_order(const geometry& g) {
  for (std::uint32_t k = 0; k < g.size(); ++k)
    if (g.in_node_order(k) != k) return false;
  return true;
}

std::uint32_t travelling(std::uint32_t members, std::uint32_t round) {
  std::uint32_t count = 0;
  for (std::uint32_t d = 1; d < members; ++d)
    count += travels(d, round);
  return count;
}

std::uint32_t reader_index(const geometry& g, std::uint32_t reader, std::uint32_t writer) {
  if (!g.is_near(writer) || reader == writer) return 0;
  const std::uint32_t index = g.local_index(reader);
  return index - (index > g.local_index(writer) ? 1 : 0);
}

} // namespace weft::graph
