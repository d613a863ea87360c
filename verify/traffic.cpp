// SPDX-License-Identifier: BSD-3-Clause
#include "verify/traffic.hpp"

#include "engine/operations/operation_kind.hpp"
#include "engine/plan/resolve.hpp"

#include <algorithm>

namespace weft::graph {

std::uint64_t bytes_moved(const plan& p, const topology& g, const node& n, std::uint32_t peer,
                          std::uint32_t step) {
  const bool gets = n.what == kind::get;
  if (!gets && n.what != kind::put && n.about != fact::payload) return 0;
  if (operations::is_part(n)) return p.packed;
  if (p.unequal && n.bundled) {
    // Each with what says where it ends, if they have room.
    const std::uint64_t blocks = p.pairs == pattern::to_root ? 1 : g.members(g.host(peer));
    return std::min(p.packed, 4 + blocks * (4 + p.block()));
  }
  std::uint64_t bytes = 0;
  // To the verifier a block is a part of my work on the task; there are as many pieces of it as of a block.
  const bool part = p.parts && n.about != fact::payload && n.count != 0;
  each_region(p, g, n, resolve(p, gets ? flow::in : flow::out, peer, step),
              [&](const region& r) { bytes += part ? std::min(r.bytes, p.chunk) : r.bytes; });
  return bytes;
}

traffic traffic_of(const plan& p, const topology& g, std::span<const std::uint32_t> group) {
  const std::uint32_t mine = g.host(g.me());
  traffic sum;
  for (std::size_t n = 0; n < p.size; ++n) {
    const node& loop = p.nodes[n];
    if (loop.what != kind::loop || loop.on == branch::alone) continue; // no member is late
    for (unsigned s = loop.body; s < unsigned{loop.body} + loop.body_size; ++s) {
      const node& step = p.nodes[s];
      const bool sends = step.what == kind::signal || step.what == kind::put || step.what == kind::get;
      if (!sends || step.peer == peer_rule::self || step.only == lane::near) continue;
      for (std::uint32_t k = 0; k < loop.count; ++k) {
        const std::uint32_t peer = peer_at(p, g, loop.over, step.peer, k);
        if (peer == found_by_rows || g.is_near(peer)) continue;
        if (!group.empty() && group[g.host(peer)] == group[mine]) continue;
        if (step.bundled && step.about == fact::consumed) continue; // a rank that packs it says so
        if (p.unequal && step.what == kind::get) continue;          // it came along
        if (step.bundled && step.what == kind::get && g.local_index(peer) != 0) {
          sum += {0, bytes_moved(p, g, step, peer, k)};
          continue;
        }
        sum += {1, bytes_moved(p, g, step, peer, k)};
      }
    }
  }
  return sum;
}

} // namespace weft::graph
