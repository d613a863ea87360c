// SPDX-License-Identifier: BSD-3-Clause
#include "engine/topology/rounds.hpp"

#include <algorithm>
#include <bit>

namespace weft::graph {

std::uint32_t dissemination_rounds(std::uint32_t members) {
  return members <= 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(members - 1));
}

round_step round_step_of(std::uint32_t step, std::uint32_t radix) {
  round_step at{1, step % (radix - 1) + 1};
  for (std::uint32_t round = step / (radix - 1); round != 0; --round)
    at.weight *= radix;
  return at;
}

std::uint32_t dissemination_steps(std::uint32_t members, std::uint32_t radix) {
  std::uint32_t steps = 0;
  for (std::uint64_t weight = 1; weight < members; weight *= radix)
    steps += static_cast<std::uint32_t>(std::min<std::uint64_t>(radix - 1, (members - 1) / weight));
  return steps;
}

member_run sent_in_step(const topology& g, std::uint32_t host, round_step step) {
  const std::uint32_t hosts = g.hosts();
  const std::uint32_t known = std::min(step.weight, hosts - step.distance());
  member_run run{g.first(host), 0};
  for (std::uint32_t k = 0; k < known; ++k)
    run.count += g.members((host + k) % hosts);
  return run;
}

member_run half_in_round(const topology& g, std::uint32_t host, std::uint32_t round) {
  const doubling d(g.hosts());
  const std::uint32_t first = d.place(host) >> round << round;
  const std::uint32_t begin = g.first(d.first(first));
  return {begin, g.first(d.first(first + (std::uint32_t{1} << round))) - begin};
}

bool in_rank_order(const topology& g) {
  for (std::uint32_t k = 0; k < g.size(); ++k)
    if (g.in_host_order(k) != k) return false;
  return true;
}

std::uint32_t travelling(std::uint32_t members, std::uint32_t radix, round_step step) {
  const std::uint64_t turn = std::uint64_t{step.weight} * radix, rest = members % turn;
  const std::uint64_t begun = rest > step.distance() ? rest - step.distance() : 0;
  return static_cast<std::uint32_t>(members / turn * step.weight +
                                    std::min<std::uint64_t>(begun, step.weight));
}

} // namespace weft::graph
