// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/topology/topology.hpp"

#include <algorithm>
#include <bit>

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

// A doubling over any number of hosts. The first hosts make pairs, so that what is left is a power of two of
// places, each of one host or of a pair, in the order of the hosts. Of a pair the first one acts.
struct doubling {
  explicit doubling(std::uint32_t hosts)
      : places(std::bit_floor(hosts)), pairs(hosts - places), rounds(std::countr_zero(places)) {}

  bool paired(std::uint32_t host) const { return host < 2 * pairs; }
  bool acts(std::uint32_t host) const { return !paired(host) || host % 2 == 0; }
  std::uint32_t place(std::uint32_t host) const { return paired(host) ? host / 2 : host - pairs; }
  // The first host of a place; behind the last one, the number of hosts.
  std::uint32_t first(std::uint32_t place) const { return place < pairs ? 2 * place : place + pairs; }
  // The place whose number differs in this bit.
  std::uint32_t partner(std::uint32_t host, std::uint32_t round) const {
    return first(place(host) ^ (std::uint32_t{1} << round));
  }

  // In which round a host sends what has come to it until then, if all of it goes to one host: to its
  // partner. The other's own place receives in all rounds.
  std::uint32_t leaves(std::uint32_t host, std::uint32_t to) const {
    return static_cast<std::uint32_t>(std::min(rounds, std::countr_zero(place(host) ^ place(to))));
  }

  std::uint32_t places, pairs;
  int rounds;
};

// The members of the 2^round places whose numbers differ from this one's in lower bits only: in this round of
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
