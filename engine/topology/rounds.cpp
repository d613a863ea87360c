#include "engine/topology/rounds.hpp"

#include <algorithm>
#include <bit>

namespace weft::graph {

std::uint32_t dissemination_rounds(std::uint32_t members) {
  return members <= 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(members - 1));
}

member_run sent_in_round(const topology& g, std::uint32_t host, std::uint32_t round) {
  const std::uint32_t hosts = g.hosts();
  const std::uint32_t known = std::min(std::uint32_t{1} << round, hosts - (std::uint32_t{1} << round));
  member_run run{g.first(host), 0};
  for (std::uint32_t k = 0; k < known; ++k)
    run.count += g.members((host + k) % hosts);
  return run;
}

member_run half_in_round(const topology& g, std::uint32_t host, std::uint32_t round) {
  const std::uint32_t first = host >> round << round;
  const std::uint32_t begin = g.first(first);
  return {begin, g.first(first + (std::uint32_t{1} << round)) - begin};
}

bool in_rank_order(const topology& g) {
  for (std::uint32_t k = 0; k < g.size(); ++k)
    if (g.in_host_order(k) != k) return false;
  return true;
}

std::uint32_t travelling(std::uint32_t members, std::uint32_t round) {
  std::uint32_t count = 0;
  for (std::uint32_t d = 1; d < members; ++d)
    count += travels(d, round);
  return count;
}

} // namespace weft::graph
