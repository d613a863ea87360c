#pragma once
#include "engine/topology/topology.hpp"
#include "engine/plan/plan.hpp"

#include <vector>

namespace weft::graph {

// Who hands what on to whom, where data travel between nodes in several steps. One member of each node acts
// for it, the leader: the root on its own node, the first member on every other. Nodes are numbered in the
// order of their first members; in trees they are counted from the root's.

std::uint32_t leader_of(const plan& p, const geometry& g, std::uint32_t node);
inline std::uint32_t leader_of_mine(const plan& p, const geometry& g) {
  return leader_of(p, g, g.node(p.me));
}
inline bool leads(const plan& p, const geometry& g) {
  return leader_of_mine(p, g) == p.me;
}

// The k-nomial tree over 0 .. size-1: a vertex's parent is what is left without its lowest digit in base k,
// so that no vertex has more than (k-1)*ceil(log_k size) children and none is deeper than ceil(log_k size).
namespace tree {
std::uint32_t parent(std::uint32_t vertex, std::uint32_t radix);
std::uint32_t children(std::uint32_t vertex, std::uint32_t size, std::uint32_t radix);
// Largest subtrees first.
std::uint32_t child(std::uint32_t vertex, std::uint32_t size, std::uint32_t radix, std::uint32_t number);
std::uint32_t depth(std::uint32_t size, std::uint32_t radix);
} // namespace tree

// The peer of a range that is about leaders, and how many iterations such a loop may have at most.
bool is_staged(range over);
std::uint32_t staged_peer(const plan& p, const geometry& g, range over, peer_rule rule,
                          std::uint32_t iteration);
std::uint32_t staged_size(const plan& p, const geometry& g, range over);

// Bytes at the same place of every destination.
struct extent {
  std::uint64_t offset = 0, bytes = 0;
  bool operator==(const extent&) const = default;
};
extent extent_of(const plan& p, const geometry& g, portion of, std::uint32_t iteration);
// How many pieces the block is cut into.
inline std::uint32_t pieces(const plan& p) {
  return p.piece == 0 ? 1 : static_cast<std::uint32_t>((p.rule.bytes + p.piece - 1) / p.piece);
}

// Members in node order: `count` of them from `begin`, cyclically.
struct member_run {
  std::uint32_t begin = 0, count = 0;
};
// Whose blocks the leader of a node sends in a round of the dissemination over nodes: those of as many nodes
// as it knows by then, its own first, but none that the receiver has.
member_run sent_in_round(const geometry& g, std::uint32_t node, std::uint32_t round);

// The members of the 2^round nodes whose numbers differ from this one's in lower bits only: in this round of
// a doubling they are one half, and its partner's are the other.
member_run half_in_round(const geometry& g, std::uint32_t node, std::uint32_t round);
// Whether all halves are consecutive team ranks, so that their blocks lie side by side.
bool in_rank_order(const geometry& g);

// All bytes that a get or a put is about in an iteration: one extent, but of a half as many as lie apart.
template <class Visit>
void for_each_extent(const plan& p, const geometry& g, const node& n, std::uint32_t iteration, Visit visit) {
  if (n.of != portion::half) return visit(extent_of(p, g, n.of, iteration));
  const std::uint32_t mine = g.node(p.me), other = mine ^ (std::uint32_t{1} << iteration);
  const member_run run = half_in_round(g, n.what == kind::put ? mine : other, iteration);
  extent together;
  for (std::uint32_t k = 0; k < run.count; ++k) {
    const std::uint64_t offset = p.rule.destination(g.in_node_order(run.begin + k), p.me);
    if (together.bytes != 0 && offset != together.offset + together.bytes) {
      visit(together);
      together.bytes = 0;
    }
    if (together.bytes == 0) together.offset = offset;
    together.bytes += p.rule.bytes;
  }
  visit(together);
}

// The blocks that travel in a round are those whose distance, from sender to receiver, has this bit. Behind
// the round of its highest bit a block has arrived.
inline bool travels(std::uint32_t distance, std::uint32_t round) {
  return (distance >> round & 1) != 0;
}
inline bool starts(std::uint32_t distance, std::uint32_t round) {
  return (distance & ((std::uint32_t{1} << round) - 1)) == 0;
}
inline bool arrives(std::uint32_t distance, std::uint32_t round) {
  return distance >> round == 1;
}
std::uint32_t travelling(std::uint32_t members, std::uint32_t round);

} // namespace weft::graph
