// SPDX-License-Identifier: BSD-3-Clause
#include "engine/topology/tree.hpp"

#include <algorithm>

namespace weft::graph::tree {

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

} // namespace weft::graph::tree

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
