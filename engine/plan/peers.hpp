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

// All that is known of a range: its name, the most iterations of a loop over it, and the peer of each.
struct range_rule {
  range over;
  std::string_view name;
  std::uint32_t (*count)(const plan& p, const topology& g);
  std::uint32_t (*peer)(const plan& p, const topology& g, peer_rule rule, std::uint32_t step);
  bool in_rounds = false; // a step has two peers: who is ahead, and who is behind
};
const range_rule& rule_of(range over);

inline std::uint32_t count_of(const plan& p, const topology& g, range over) {
  return rule_of(over).count(p, g);
}

// The peer of a step of a loop; found_by_rows where a row names it. Asked at every step: what is looked up
// most often is so here.
[[gnu::always_inline]] inline std::uint32_t peer_at(const plan& p, const topology& g, range over,
                                                    peer_rule rule, std::uint32_t step) {
  if (over == range::near) return g.near()[step];
  if (over == range::root) return p.root;
  return rule_of(over).peer(p, g, rule, step);
}

} // namespace weft::graph
