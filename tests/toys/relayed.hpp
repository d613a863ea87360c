// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/builder.hpp"
#include "verify/verifier.hpp"

#include <array>

namespace weft::tests {

// Plans made of plans: two parts between the same members, one behind the other in one operation, each with
// eager payloads of its own. IN_MY, OUT_MY.

namespace parts {

inline graph::builder of(std::uint32_t me, const graph::topology& g, graph::pattern pairs,
                         const graph::block_rule& rule) {
  graph::builder b(me, g.size(), 0);
  b.blocks_of(rule);
  b.draft().pairs = pairs;
  b.draft().chunk = rule.bytes;
  b.draft().chunks = 1;
  b.draft().eager = true;
  b.draft().far = !g.one_host();
  b.draft().in = b.draft().out = graph::sync::my;
  return b;
}

// The root's block to all others.
inline graph::plan broadcast(std::uint32_t me, const graph::topology& g, const graph::block_rule& rule) {
  using namespace graph;
  builder b = of(me, g, pattern::from_root, rule);
  if (me != 0) {
    b.loop(range::root, 1, builder::step_list().then(take_payload()));
    return b.finish();
  }
  const auto near = static_cast<std::uint32_t>(g.near().size()),
             far = static_cast<std::uint32_t>(g.far().size());
  if (near != 0) b.draft().eager_bytes[0] = static_cast<std::uint32_t>(rule.bytes);
  if (near != 0) b.add(publish());
  b.loop(range::far, far, builder::step_list().then(send_payload()));
  b.add(copy_own());
  return b.finish();
}

// The block of every member to the root.
inline graph::plan gather(std::uint32_t me, const graph::topology& g, const graph::block_rule& rule) {
  using namespace graph;
  builder b = of(me, g, pattern::to_root, rule);
  if (me == 0) {
    b.add(copy_own());
    b.loop(range::others, g.size() - 1, builder::step_list().then(take_payload()));
    return b.finish();
  }
  if (!g.is_near(0)) {
    b.loop(range::root, 1, builder::step_list().then(send_payload()));
    return b.finish();
  }
  b.draft().eager_bytes[0] = static_cast<std::uint32_t>(rule.bytes);
  b.add(publish());
  return b.finish();
}

} // namespace parts

// All blocks go to member 0, which sends them on to all: a gather, and behind it a broadcast of what it has
// brought, from destination to destination. All of them together fit into an eager payload.
inline graph::plan gather_all_relayed(std::uint32_t me, const graph::topology& g, std::uint64_t bytes) {
  using namespace graph;
  const block_rule one{.bytes = bytes, .dst_i = bytes}, all{.bytes = bytes * g.size()};
  builder b = parts::of(me, g, pattern::all_pairs, one);
  const node_set gathered = b.use(parts::gather(me, g, one));
  b.begin_phase(1);
  b.use(parts::broadcast(me, g, all), {.after = gathered, .source = buffer::destination});
  return b.finish();
}

// The two halves of a block, one after the other, from the same root.
inline graph::plan broadcast_in_halves(std::uint32_t me, const graph::topology& g, std::uint64_t bytes) {
  using namespace graph;
  builder b = parts::of(me, g, pattern::from_root, {.bytes = 2 * bytes});
  plan half = parts::broadcast(me, g, {.bytes = bytes});
  const node_set first = b.use(half);
  for (const std::uint8_t at : {in_source, in_destination})
    half.places[at].base += bytes;
  b.begin_phase(1);
  b.use(half, {.after = first});
  return b.finish();
}

} // namespace weft::tests
