#include "engine/operations/settle.hpp"

#include "engine/operations/all_kinds.hpp"
#include "engine/plan/peers.hpp"

namespace weft::graph {

namespace {

// Whoever the peer is, and whichever the step.
bool same_for_all(const plan& p, const node& n) {
  const auto fixed = [&](const operand& o) {
    const place& at = p.places[o.at];
    return at.is_steady() && (at.from | at.to | at.turn) == 0;
  };
  return n.of == blocks::one && fixed(n.read) && fixed(n.write);
}

void settle_step(plan& p, const topology& g, node& n, std::uint32_t peer) {
  n.settled = 0;
  const bool one_peer = n.peer == peer_rule::each || n.peer == peer_rule::self || n.peer == peer_rule::group;
  if (!moves_regions(n) || !one_peer || p.settled_count == max_settled) return;
  const action a = resolve(p, way_of(n), peer, 0);
  settled_step s;
  unsigned regions = 0;
  const auto note = [&](const region& r) { ++regions, s.moved = r; };
  each_move(p, g, n, a, visitor<const region&>(note));
  if (regions != 1) return;
  if (n.what == kind::take) s.payload = payload_bytes(p, g, n, a);
  p.settled[p.settled_count] = s;
  n.settled = ++p.settled_count;
}

} // namespace

void settle(plan& p, const topology& g) {
  p.settled_count = 0;
  if (p.by_rows || p.in_place) return; // what is moved is found when it is
  for (unsigned k = 0; k < p.size; ++k) {
    const node& n = p.nodes[k];
    if ((p.top >> k & 1) == 0) continue;
    const bool by_name = n.over == range::named || n.over == range::naming;
    if (n.what != kind::loop)
      settle_step(p, g, p.nodes[k], p.me);
    else if (n.single && !by_name && !rule_of(n.over).in_rounds)
      settle_step(p, g, p.nodes[n.body], peer_at(p, g, n.over, peer_rule::each, 0));
    else
      for (unsigned s = n.body; s < unsigned{n.body} + n.body_size; ++s)
        if (same_for_all(p, p.nodes[s])) settle_step(p, g, p.nodes[s], p.me);
  }
}

} // namespace weft::graph
