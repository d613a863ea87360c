#include "engine/topology/relays.hpp"

#include "engine/topology/tree.hpp"

namespace weft::graph {

std::uint32_t leader_of(const topology& g, std::uint32_t root, std::uint32_t host) {
  return host == g.host(root) ? root : g.in_host_order(g.first(host));
}

std::uint32_t relay_tree::below(std::uint32_t member) const {
  if (leader_of(g_, root_, g_.host(member)) != member) return 0;
  const std::uint32_t here = vertex(member), hosts = tree::children(here, g_.hosts(), radix_);
  std::uint32_t members = 0;
  for (std::uint32_t k = 0; k < hosts; ++k)
    members += g_.members(host_at(tree::child(here, g_.hosts(), radix_, k)));
  return members;
}

std::uint32_t relay_tree::child(std::uint32_t member, std::uint32_t number) const {
  const std::uint32_t here = vertex(member);
  for (std::uint32_t k = 0;; ++k) {
    const std::uint32_t host = host_at(tree::child(here, g_.hosts(), radix_, k));
    if (number < g_.members(host)) return g_.in_host_order(g_.first(host) + number);
    number -= g_.members(host);
  }
}

std::uint32_t relay_tree::above(std::uint32_t member) const {
  return leader_of(g_, root_, host_at(tree::parent(vertex(member), radix_)));
}

} // namespace weft::graph
