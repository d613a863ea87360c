#pragma once
#include "engine/topology/topology.hpp"

// Whose blocks travel in a round of a dissemination, and of a doubling (a hypercube).
namespace weft::graph {

// How many rounds a dissemination over so many has: in round k everybody hears of 2^k more.
std::uint32_t dissemination_rounds(std::uint32_t members);

// Members in host order: `count` of them from `begin`, cyclically.
struct member_run {
  std::uint32_t begin = 0, count = 0;
};
// Whose blocks the leader of a host sends in a round of the dissemination over hosts: those of as many hosts
// as it knows by then, its own first, but none that the receiver has.
member_run sent_in_round(const topology& g, std::uint32_t host, std::uint32_t round);

// The members of the 2^round hosts whose numbers differ from this one's in lower bits only: in this round of
// a doubling they are one half, and its partner's are the other.
member_run half_in_round(const topology& g, std::uint32_t host, std::uint32_t round);
// Whether all halves are consecutive team ranks, so that their blocks lie side by side.
bool in_rank_order(const topology& g);

// The blocks that travel in a round are those whose distance, from sender to receiver, has this bit.
inline bool travels(std::uint32_t distance, std::uint32_t round) {
  return (distance >> round & 1) != 0;
}
std::uint32_t travelling(std::uint32_t members, std::uint32_t round);

} // namespace weft::graph
