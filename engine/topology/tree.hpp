// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/topology/topology.hpp"

#include <cstdint>

// The k-nomial tree over 0 .. size-1: a vertex's parent is what is left without its lowest digit in base k,
// so that no vertex has more than (k-1)*ceil(log_k size) children and none is deeper than ceil(log_k size).
namespace weft::graph::tree {

std::uint32_t parent(std::uint32_t vertex, std::uint32_t radix);
std::uint32_t children(std::uint32_t vertex, std::uint32_t size, std::uint32_t radix);
// Largest subtrees first.
std::uint32_t child(std::uint32_t vertex, std::uint32_t size, std::uint32_t radix, std::uint32_t number);
std::uint32_t depth(std::uint32_t size, std::uint32_t radix);

} // namespace weft::graph::tree

namespace weft::graph {

// The member that acts for a host between hosts: the root on its own, the first on every other.
std::uint32_t leader_of(const topology& g, std::uint32_t root, std::uint32_t host);

// Who sends a payload of the root to whom, when engines hand it on: a k-nomial tree over the hosts, counted
// from the root's. The leader of a host sends to all members of the hosts below its own, so between two
// members of one host nothing is sent; the root's own neighbours read its mailbox.
class relay_tree {
public:
  relay_tree(const topology& g, std::uint32_t root, std::uint32_t radix)
      : g_(g), root_(root), radix_(radix) {}

  // How many a member sends to, and whom; those with the most hosts below them first.
  std::uint32_t below(std::uint32_t member) const;
  std::uint32_t child(std::uint32_t member, std::uint32_t number) const;
  // Who sends to a member of another host than the root's.
  std::uint32_t above(std::uint32_t member) const;

private:
  std::uint32_t vertex(std::uint32_t member) const {
    return (g_.host(member) + g_.hosts() - g_.host(root_)) % g_.hosts();
  }
  std::uint32_t host_at(std::uint32_t vertex) const { return (vertex + g_.host(root_)) % g_.hosts(); }

  const topology& g_;
  std::uint32_t root_, radix_;
};

} // namespace weft::graph
