#pragma once
#include "engine/topology/topology.hpp"

#include <algorithm>

// Whose blocks travel in a round of a dissemination, and of a doubling (a hypercube).
namespace weft::graph {

// How many rounds a dissemination over so many has: in round k everybody hears of 2^k more.
std::uint32_t dissemination_rounds(std::uint32_t members);

// The same with any radix: in round k everybody hears of radix^k more from each of radix - 1 others. A step
// is one message of a member: to who is `distance` away, a digit of the radix times its weight.
struct round_step {
  std::uint32_t weight = 1, digit = 1;
  std::uint32_t distance() const { return weight * digit; }
};
round_step round_step_of(std::uint32_t step, std::uint32_t radix);
std::uint32_t dissemination_steps(std::uint32_t members, std::uint32_t radix);

// Members in host order: `count` of them from `begin`, cyclically.
struct member_run {
  std::uint32_t begin = 0, count = 0;
};
// Whose blocks the leader of a host sends in a step of the dissemination over hosts: those of as many hosts
// as it knew before this round, its own first, but none that the receiver has.
member_run sent_in_step(const topology& g, std::uint32_t host, round_step step);

// The members of the 2^round hosts whose numbers differ from this one's in lower bits only: in this round of
// a doubling they are one half, and its partner's are the other.
member_run half_in_round(const topology& g, std::uint32_t host, std::uint32_t round);
// Whether all halves are consecutive team ranks, so that their blocks lie side by side.
bool in_rank_order(const topology& g);

// How many of the distances from 1 to members - 1 have the step's digit: what travels so far does so in this
// step.
std::uint32_t travelling(std::uint32_t members, std::uint32_t radix, round_step step);
// These distances, in their order.
template <class Visit>
void each_travelling(std::uint32_t members, std::uint32_t radix, round_step step, Visit&& visit) {
  const std::uint64_t turn = std::uint64_t{step.weight} * radix;
  for (std::uint64_t run = step.distance(); run < members; run += turn)
    for (std::uint64_t d = run; d < std::min<std::uint64_t>(run + step.weight, members); ++d)
      visit(static_cast<std::uint32_t>(d));
}

} // namespace weft::graph
