// SPDX-License-Identifier: BSD-3-Clause
#include "engine/collectives/algorithm.hpp"
#include "engine/collectives/operations.hpp"
#include "engine/operations/all_kinds.hpp"
#include "engine/plan/builder.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace weft::collectives {
// What checked mode adds to the plan of any collective: each member makes known which call the operation is,
// and compares what it hears with its own.
//
//   publish call            into my mailbox, before anything else
//   send call to each       far member
//   compare                 looked at in every pass before the plan's own nodes: which ranks have entered by
//   then await call              IN_ALL only, before data is touched: all have been compared
//   publish, send name      where rows name a rank: which one mine names, when it may be read
//   await names             the same for IN_ALL: all have been compared
//   ... the plan itself ...
//   compare                 behind everything else; when only the two are left, both are done
//
// Where a mode lets data move before all have entered, those that come later are compared when they come, and
// by themselves: no rank waits for a comparison that its mode does not wait for. One line more is written and
// read for each member of the host, one message more is sent to each far one.

using namespace graph;

namespace {

bool touches_data(const plan& p, const node& n) {
  if (n.what != kind::loop) return moves_data(n.what);
  const auto body = std::span(p.nodes).subspan(n.body, n.body_size);
  return std::ranges::any_of(body, [](const node& step) { return moves_data(step.what); });
}

node of_call(kind what, peer_rule peer) {
  node n;
  n.what = what;
  n.about = fact::call;
  n.peer = peer;
  return n;
}

node of_names(kind what, peer_rule peer) {
  node n = of_call(what, peer);
  n.count = 1;
  return n;
}

// The line is written a second time when no rank sends it any more.
node_set compare_names(builder& front, sync in, std::uint32_t far, node_set after) {
  const node_set named = front.add(of_names(kind::signal, peer_rule::group), after);
  builder::step_list send;
  send.then(of_names(kind::signal, peer_rule::each));
  front.loop(range::far, far, send, named);
  return in == sync::all ? front.add(of_names(kind::await, peer_rule::self), named) : 0;
}

} // namespace

plan with_comparison(const plan& p, sync in, const topology& g) {
  builder front(p.me, p.members, p.root);
  const node_set published = front.add(of_call(kind::signal, peer_rule::group));
  builder::step_list send;
  send.then(of_call(kind::signal, peer_rule::each));
  const auto far = static_cast<std::uint32_t>(g.far().size());
  const node_set sent = front.loop(range::far, far, send, published);
  const std::uint8_t watch = front.draft().size;
  front.add(of_call(kind::compare, peer_rule::self), published);
  node_set gate = in == sync::all ? front.add(of_call(kind::await, peer_rule::self), published) : 0;
  if (p.names != naming::none) gate |= compare_names(front, in, far, published | sent | gate);

  plan all = p; // on the same buffers
  all.nodes = front.draft().nodes;
  all.size = front.draft().size;
  all.loops = front.draft().loops;
  all.top = front.draft().top;
  all.scratch = 0;
  include(all, p, {.after = gate, .waits = touches_data});
  node last = of_call(kind::compare, peer_rule::self);
  last.count = watch; // is done with it
  all.top |= node_set{1} << all.size;
  all.nodes.at(all.size++) = last;
  all.in = in;
  all.far |= !g.far().empty();
  prepare(all);
  return all;
}

namespace {

// The member with the most transfers: the root, or in a permutation any one.
std::uint64_t cost_of_blocks(std::uint64_t far, std::uint64_t near, const request& r,
                             const graph::topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t hop = sent_ahead(r, g, t) ? c.message() : c.get();
  // Of a root that hears of no reader.
  const bool fetched = r.op != operation::gather && r.in == sync::no && r.out == sync::no;
  const std::uint64_t wire = fetched ? c.fetched(far, r.bytes) : c.wire(far, r.bytes);
  return (far == 0 ? 0 : hop + wire) + c.copies(near, r.bytes);
}

} // namespace

// A broadcast, a scatter or a gather, block by block.
std::uint64_t cost_of_flat_rooted(const request& r, const graph::topology& g, const tuning& t) {
  const std::uint64_t near = g.members(g.host(r.root));
  return cost_of_blocks(g.size() - near, r.op == operation::broadcast ? 1 : near, r, g, t);
}

std::uint64_t cost_of_permute(const request& r, const graph::topology& g, const tuning& t) {
  return cost_of_blocks(g.one_host() ? 0 : 1, g.one_host() ? 1 : 0, r, g, t);
}

std::optional<std::uint64_t> cost_of_only_way(const request& r, const graph::topology& g, const tuning& t) {
  cost_of* const cost = facts_of(r.op).cost;
  if (cost == nullptr) return std::nullopt;
  return cost(r, g, t);
}

// The leaders tell each other that all have entered, or that all is in place, as they do in a barrier.
std::optional<std::uint64_t> predicted_time(const request& r, const graph::topology& g, const tuning& t) {
  const algorithm* const by = choose(r, g, t);
  const std::optional<std::uint64_t> cost = by != nullptr ? by->cost(r, g, t) : cost_of_only_way(r, g, t);
  if (!cost || r.op == operation::barrier) return cost;
  const std::uint64_t rounds = cost_of_barrier(r, g, t);
  return *cost + (r.in == graph::sync::all ? rounds : 0) + (r.out == graph::sync::all ? rounds : 0);
}

graph::plan compile(const request& r, const graph::topology& g, const tuning& t) {
  plan_of* by = facts_of(r.op).compile;
  if (by == nullptr) by = r.whole && r.apart && !computes(r.op) ? compile_apart : choose(r, g, t)->compile;
  graph::plan p = by(r, g, t);
  if (t.check && g.size() > 1) p = with_comparison(p, r.in, g);
  graph::finish(p, g);
  return p;
}

} // namespace weft::collectives
