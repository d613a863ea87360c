// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/plan.hpp"
#include "engine/topology/topology.hpp"

#include <string_view>

namespace weft::graph {

// One member of each host acts for it between hosts, the leader: the root on its own host, the first member
// on every other. Nodes are numbered in the order of their first members; in trees they are counted from the
// root's.
std::uint32_t leader_of(const plan& p, const topology& g, std::uint32_t node);
inline bool leads(const plan& p, const topology& g) {
  return leader_of(p, g, g.host(p.me)) == p.me;
}

inline constexpr std::uint32_t found_by_rows = ~std::uint32_t{0};

// The peers of a loop: the most iterations of it, and the peer of each, found_by_rows where a row names it.
// Those here are of several algorithms, or the engine knows them. An algorithm that needs others defines them
// in its own file.
struct range {
  std::string_view name;
  std::uint32_t (*count)(const plan& p, const topology& g);
  std::uint32_t (*peer)(const plan& p, const topology& g, peer_rule rule, std::uint32_t step);
  bool in_rounds = false; // a step has two peers: the one ahead, and the one behind
  bool by_rows = false;   // a row in shared memory names the peer
  lane only = lane::any;  // all its peers are of this lane

  static const range root;   // the root alone
  static const range near;   // other members on my host
  static const range far;    // members on other hosts
  static const range others; // all other members
  static const range hosts;  // of each other host the member that leads to mine
  static const range named;  // the member that my own row names, if it names one
  static const range naming; // the member whose row names me, as soon as it is found

  static const range leader;        // my host's leader
  static const range next;          // the leader of the next host, once for each iteration
  static const range follow;        // my host's leader, once for each iteration
  static const range leader_rounds; // rounds 0 .. ceil(log2 hosts) - 1, between leaders
  static const range host_rounds; // the steps of a dissemination over the hosts, between leaders: plan::radix
  static const range partners;    // in round k of a doubling the leader of the place that differs in bit k
};

// The numbers of two members, or hosts, that are `distance` apart in a cycle of `size`.
constexpr std::uint32_t in_cycle(std::uint32_t at, std::uint32_t size, bool ahead, std::uint32_t distance) {
  return (ahead ? at + distance : at + size - distance) % size;
}
// My own host.
inline std::uint32_t own_host(const plan& p, const topology& g) {
  return g.host(p.me);
}

// The peer of a step of a loop. Asked at every step: what is looked up most often is so here.
[[gnu::always_inline]] inline std::uint32_t peer_at(const plan& p, const topology& g, const range* over,
                                                    peer_rule rule, std::uint32_t step) {
  if (over == &range::near) return g.near()[step];
  if (over == &range::root) return p.root;
  return over->peer(p, g, rule, step);
}

} // namespace weft::graph
