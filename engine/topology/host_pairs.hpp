// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/topology/topology.hpp"

#include <algorithm>

// Two hosts have one pair of members who lead between them, one on each. The members of a host take turns:
// who leads depends on how far ahead the other host is. So each leads for its share, and both ends agree.
namespace weft::graph {

// Of a host towards another one.
inline std::uint32_t leader_towards(const topology& g, std::uint32_t host, std::uint32_t other) {
  const std::uint32_t distance = (other + g.hosts() - host) % g.hosts();
  return g.in_host_order(g.first(host) + (distance - 1) % g.members(host));
}

// The number of the other host among those to which that member leads.
inline std::uint32_t number_of_pair(const topology& g, std::uint32_t host, std::uint32_t other) {
  const std::uint32_t distance = (other + g.hosts() - host) % g.hosts();
  return (distance - 1) / g.members(host);
}
// To how many hosts any member leads at most: one on the smallest host.
inline std::uint32_t most_led(const topology& g) {
  std::uint32_t least = g.size();
  for (std::uint32_t host = 0; host < g.hosts(); ++host)
    least = std::min(least, g.members(host));
  return g.one_host() ? 0 : (g.hosts() - 2) / least + 1;
}

// To how many hosts I lead, and to which.
inline std::uint32_t hosts_led(const topology& g, std::uint32_t member) {
  const std::uint32_t locals = g.members(g.host(member)), mine = g.local_index(member);
  return mine < g.hosts() - 1 ? (g.hosts() - 2 - mine) / locals + 1 : 0;
}
inline std::uint32_t host_led(const topology& g, std::uint32_t k) {
  return (g.host(g.me()) + 1 + g.local_index(g.me()) + k * g.locals()) % g.hosts();
}
// All of them; `k` counts.
template <class Visit> void each_led(const topology& g, std::uint32_t& k, Visit&& visit) {
  const std::uint32_t all = hosts_led(g, g.me());
  for (k = 0; k < all; ++k)
    visit(host_led(g, k));
}

} // namespace weft::graph
