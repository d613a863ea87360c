// SPDX-License-Identifier: BSD-3-Clause
#include "engine/collectives/hierarchical.hpp"

#include "engine/memory/mailbox.hpp"

#include <algorithm>

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

} // namespace weft::collectives
