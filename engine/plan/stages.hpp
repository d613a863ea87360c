#pragma once
#include "engine/plan/plan.hpp"
#include "engine/topology/topology.hpp"

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

// The blocks that travel in a round are those whose distance, from sender to receiver, has this bit.
inline bool travels(std::uint32_t distance, std::uint32_t round) {
  return (distance >> round & 1) != 0;
}
// A reader's number among those who read what a member of their host publishes for each of them; 0 for far
// readers, who are sent their own.
std::uint32_t reader_index(const geometry& g, std::uint32_t reader, std::uint32_t writer);
std::uint32_t travelling(std::uint32_t members, std::uint32_t round);

} // namespace weft::graph
