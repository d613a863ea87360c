// SPDX-License-Identifier: BSD-3-Clause
#include "engine/collectives/between_leaders.hpp"

#include "engine/memory/mailbox.hpp"

#include <algorithm>
#include <bit>

namespace weft::collectives {
using namespace graph;

hierarchical::hierarchical(const request& r, pattern pairs, const block_rule& rule, const topology& where,
                           const tuning& t)
    : b(where.me(), where.size(), r.root), g(where), modes(b, where, r.in, r.out), root_(r.root) {
  p().pairs = pairs;
  b.blocks_of(rule);
  p().chunk = rule.bytes;
  p().chunks = 1;
  p().window = static_cast<std::uint8_t>(t.window);
  p().far = true;
  gate = modes.gate();
  root = g.me() == r.root;
  leader = graph::leads(p(), g);
}

void hierarchical::stream(std::uint64_t bytes, const tuning& t) {
  const std::uint64_t enough = std::min(cost_model(t.costs).stream(bytes), t.window);
  p().window = static_cast<std::uint8_t>(std::max<std::uint64_t>(enough, 1));
}

void hierarchical::sends(std::uint64_t bytes) {
  if (bytes > engine::mailbox::body_bytes) p().credit = engine::mailbox::large_places;
}

node_set hierarchical::each(const range& over, std::uint32_t iterations, const node& step, node_set after) {
  builder::step_list steps;
  steps.then(step);
  return b.loop(over, iterations, steps, after);
}

node_set hierarchical::read_from_root() {
  builder::step_list steps;
  steps.then(get_from_each()).then_if(modes.tells_ends(), count_for_each(fact::consumed, 1));
  return b.loop(range::root, 1, steps, gate);
}

node_set hierarchical::tell_leader(node_set after) {
  if (leader || !modes.tells_ends()) return 0;
  return each(range::leader, 1, count_for_each(fact::consumed, 1), after);
}

plan hierarchical::finish(node_set data, std::uint32_t readers, std::uint32_t writers) {
  if (!modes.tells_ends()) readers = writers = 0;
  modes.exit(data, 0, writers, readers);
  return b.finish();
}

using namespace graph;

std::uint64_t into_node(const topology& g) {
  return g.size() - g.size() / g.hosts();
}

namespace {

constexpr range other_leaders{
    .name = "leaders",
    .count = [](const plan& p, const topology& g) { return leads(p, g) ? g.hosts() - 1 : 0; },
    .peer = [](const plan& p, const topology& g, peer_rule,
               std::uint32_t k) { return leader_of(p, g, (own_host(p, g) + 1 + k) % g.hosts()); }};

// The block of the step-th member in ring order, counted from the first of my host.
constexpr blocks ring{.name = "next block of the ring",
                      .each =
                          [](const plan&, const topology& g, const action& a, block_visitor visit) {
                            each_of_run(g, a, {g.first(g.host(a.me)) + a.step, 1}, visit);
                          },
                      .one_a_step = true};

} // namespace

node_set scatter_to_leaders(hierarchical& s, std::uint8_t at, node_set after, const blocks& of) {
  if (!s.root) return s.b.add(await_count(fact::delivered, 1), after);
  const node put =
      of_blocks(writing(reading(put_to_each(), buffer::source, at), buffer::destination, at), of);
  builder::step_list steps;
  steps.then(put).then(order_each()).then(count_for_each(fact::delivered, 1));
  return s.b.loop(other_leaders, s.count(other_leaders), steps, after);
}

std::uint64_t cost_of_scatter_to_leaders(std::uint64_t moved, const topology& g, const cost_model& c) {
  const std::uint64_t far = g.hosts() - 1;
  return c.put_and_count() + 2 * c.wire(far, 0) + c.of_bytes(moved);
}

node_set ring_of_leaders(hierarchical& s, std::uint8_t at, node_set after) {
  const topology& g = s.g;
  const std::uint32_t mine = g.host(g.me()), locals = g.members(mine);
  const std::uint32_t receivers_own = g.members((mine + g.hosts() - 1) % g.hosts());
  builder::step_list steps;
  steps.then_if(g.hosts() > 2, await_steps(peer_rule::self, locals));
  steps.then(of_blocks(put_handed_on(at), ring)).then(order_each()).then(count_for_each(fact::delivered, 1));
  const node_set sent = s.b.pipeline(range::next, g.size() - receivers_own, steps, after);
  // Only the receiver of an ordered put knows that it is in place, also of those that it does not hand on.
  return sent | s.b.add(await_count(fact::delivered, g.size() - locals));
}

std::uint64_t cost_of_ring_of_leaders(std::uint64_t bytes, const topology& g, const cost_model& c) {
  const std::uint64_t far = into_node(g);
  return (g.hosts() - 1) * c.put_and_count() + c.wire(far, bytes) + c.wire(far, 0);
}

node_set doubling_of_leaders(hierarchical& s, std::uint8_t at, bool told, node_set after, const range& with,
                             const blocks& of) {
  builder::step_list steps;
  steps.then(of_blocks(put_handed_on(at), of)).then(order_each()).then(announce_puts()).then(await_ready());
  steps.then_if(told, count_step());
  return s.b.loop(with, s.count(with), steps, after, 1);
}

std::uint64_t cost_of_doubling_of_leaders(std::uint64_t moved, std::uint64_t puts, const topology& g,
                                          const cost_model& c) {
  const auto rounds = static_cast<std::uint64_t>(std::countr_zero(g.hosts()));
  return rounds * (c.put_and_count() + c.wire(1, 0)) + c.wire(puts, 0) + c.of_bytes(moved);
}

node_set disseminate(hierarchical& s, const dissemination& d, const range& over, const blocks& of,
                     operand where, node_set after) {
  const std::uint64_t bytes = s.p().block();
  const std::uint8_t message = s.of_message();
  const std::uint8_t packed =
      s.b.add_place({.base = s.p().scratch, .step = d.most * bytes, .turn = bytes, .bytes = bytes});
  s.p().scratch += d.messages * d.most * bytes;
  s.sends(d.most * bytes);
  node pack = of_blocks(writing(reading(copy_own(), where.in, where.at), buffer::scratch, packed), of);
  builder::step_list steps;
  steps.then(pack);
  steps.then(send_packed(of, buffer::scratch, packed, message));
  steps.then(take_packed(of, where.in, where.at, message));
  const std::uint32_t together = d.radix <= most_radix_of_rounds ? d.radix - 1 : 0; // one round: in no order
  return s.b.loop(over, s.count(over), steps, after, static_cast<std::uint8_t>(together));
}

} // namespace weft::collectives
