// SPDX-License-Identifier: BSD-3-Clause
#include "engine/operations/all_kinds.hpp"
#include "engine/plan/resolve.hpp"
#include "engine/special_paths.hpp"

#include <algorithm>

namespace weft::graph {

namespace {

// With every peer, in every step.
bool same_for_all(const plan& p, const node& n) {
  const auto fixed = [&](const operand& o) {
    const place& at = p.places[o.at];
    return at.is_steady() && (at.from | at.to | at.turn) == 0;
  };
  return n.of == nullptr && fixed(n.read) && fixed(n.write);
}

void settle_step(plan& p, const topology& g, node& n, std::uint32_t peer) {
  n.settled = 0;
  const bool one_peer = n.peer == peer_rule::each || n.peer == peer_rule::self || n.peer == peer_rule::group;
  const bool elsewhere = operations::is_part(n) || n.bundled; // not in a place of the plan's
  if (!moves_regions(n) || elsewhere || !one_peer || p.settled_count == max_settled) return;
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

// Notes the region of each step that moves one which is the same in every execution: so the executor need
// not resolve it again. What each_move says of the step is what is noted.
void settle(plan& p, const topology& g) {
  p.settled_count = 0;
  if (p.by_rows || p.in_place) return; // what is moved is found when it is
  for (unsigned k = 0; k < p.size; ++k) {
    const node& n = p.nodes[k];
    if ((p.top >> k & 1) == 0) continue;
    if (n.what != kind::loop)
      settle_step(p, g, p.nodes[k], p.me);
    else if (n.single && !n.over->by_rows && !n.over->in_rounds)
      settle_step(p, g, p.nodes[n.body], peer_at(p, g, n.over, peer_rule::each, 0));
    else
      for (unsigned s = n.body; s < unsigned{n.body} + n.body_size; ++s)
        if (same_for_all(p, p.nodes[s])) settle_step(p, g, p.nodes[s], p.me);
  }
}

// Nodes of which all steps are so.
template <class Is> bool all_steps(const plan& p, const node& n, Is&& is) {
  const auto* const body = p.nodes.data() + n.body;
  return n.what == kind::loop ? std::all_of(body, body + n.body_size, is) : is(n);
}

// A message, or what a post looks at or computes in no time; of unequal blocks, a get of what may have come
// along.
bool is_prompt(const plan& p, const node& s) {
  return s.what == kind::signal || looks(s.what) || (s.what == kind::compute && s.quick) ||
         (s.what == kind::get && p.unequal);
}

// What other ranks wait for and cannot do themselves: a word that this rank raises, or data that it brings.
// Under OUT_ALL between hosts that is also a block that only its two ends carry, for both may be away.
bool tells(const plan& p, const node& n) {
  const bool both_ends = p.far && p.out == sync::all;
  return !all_steps(p, n, [&](const node& s) {
    return s.what != kind::signal && s.what != kind::put && !(both_ends && s.what == kind::claim);
  });
}

// And the top nodes in front of it.
node_set with_those_before(const plan& p, node_set of) {
  for (node_set all = ~of; all != of;) {
    all = of;
    for (unsigned k = 0; k < p.size; ++k)
      if ((p.top >> k & 1) != 0 && (p.nodes[k].then & of) != 0) of |= node_set{1} << k;
  }
  return of;
}

// Notes whether all that others wait for are messages that wait for no more than words: then nothing is left
// to be done behind a post over sockets. And what a rank that is away is rung for: which nodes come to
// something that other ranks wait for, and that no other rank can do.
void note_for_post(plan& p) {
  node_set serving = 0;
  p.alone = 0;
  p.together = false;
  for (unsigned k = 0; k < p.size; ++k) {
    const node& n = p.nodes[k];
    const bool bundles = n.what == kind::signal && n.bundled && n.about == fact::payload;
    p.together |= bundles && p.pairs != pattern::from_root; // a root sends for itself alone
    const bool mine = all_steps(p, n, [](const node& s) { return !serves_others(s.what); });
    if ((p.top >> k & 1) == 0 || mine) continue;
    if (n.what != kind::compute) serving |= node_set{1} << k; // what is computed behind is my own result
    if (tells(p, n)) p.alone |= node_set{1} << k;
  }
  const node_set until_served = with_those_before(p, serving);
  p.alone = with_those_before(p, p.alone);
  p.prompt = true;
  for (unsigned k = 0; k < p.size; ++k)
    p.prompt &= (until_served >> k & 1) == 0 ||
                all_steps(p, p.nodes[k], [&](const node& s) { return is_prompt(p, s); });
}

bool is_short_step(const node& s) {
  return is_short(s.what) && s.about != fact::row && s.about != fact::named && s.about != fact::call &&
         !s.bundled && !s.relayed;
}
bool is_short_loop(const plan& p, const node& n) {
  const node& s = p.nodes[n.body];
  return n.body_size == 1 && n.count != 0 && !n.searches && !n.over->by_rows && n.ordered <= 1 &&
         is_short_step(s) && (n.count == 1 || looks(s.what));
}

// The steps of a top node, behind those of others. False if there is no room, or it is not short.
bool append_straight(plan& p, const topology& g, std::uint8_t top) {
  const node& n = p.nodes[top];
  const bool in_loop = n.what == kind::loop;
  if (in_loop ? !is_short_loop(p, n) : !is_short_step(n)) return false;
  const std::uint32_t steps = in_loop ? n.count : 1;
  if (p.straight_count + steps > max_straight) return false;
  for (std::uint32_t k = 0; k < steps; ++k) {
    straight_step s{in_loop ? n.body : top, top, static_cast<std::uint8_t>(k), k + 1 == steps, p.me};
    const node& made = p.nodes[s.node];
    if (in_loop) s.peer = peer_at(p, g, n.over, made.peer, k);
    if (!g.is_near(s.peer) || made.only == lane::far) return false;
    p.straight[p.straight_count++] = s;
  }
  return true;
}

// Notes the steps of a plan that is straight: few of them, within the host, in the order in which a pass that
// finds all words come makes them, with their peers. A blocking call goes through them with no state but the
// place that it has come to. So a step that may be made again, because a later one of its node has to wait,
// only waits and copies. `straight_posted` of them are all that a post makes: signals, and behind them little
// copies if nothing else is left; 0 if that is not so.
void straighten(plan& p, const topology& g) {
  p.straight_count = p.straight_posted = 0;
  if (p.far || p.large || p.dynamic || p.by_rows || p.in_place || p.names != naming::none || p.lends())
    return;
  node_set done = 0;
  for (node_set rest = p.top; rest != 0; rest &= rest - 1) {
    const auto top = static_cast<std::uint8_t>(std::countr_zero(rest));
    if ((p.nodes[top].after & ~done) != 0 || !append_straight(p, g, top)) {
      p.straight_count = 0;
      return;
    }
    done |= node_set{1} << top;
  }
  unsigned signals = 0;
  while (signals < p.straight_count && p.nodes[p.straight[signals].node].what == kind::signal)
    ++signals;
  constexpr std::uint64_t little = 512; // is copied sooner than come back to
  bool little_left = true;
  for (unsigned k = signals; k < p.straight_count; ++k) {
    const kind what = p.nodes[p.straight[k].node].what;
    if (what == kind::signal || what == kind::compute || (p.alone >> p.straight[k].top & 1) != 0) return;
    little_left &= what == kind::copy && p.block() <= little;
  }
  p.straight_posted = little_left ? p.straight_count : static_cast<std::uint8_t>(signals);
}

} // namespace

void finish(plan& p, const topology& g) {
  if (special::settled_steps) settle(p, g);
  note_for_post(p);
  if (special::straight) straighten(p, g);
}

} // namespace weft::graph
