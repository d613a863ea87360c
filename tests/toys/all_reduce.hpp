#pragma once
#include "engine/plan/builder.hpp"
#include "engine/plan/peers.hpp"
#include "engine/verify/verifier.hpp"

namespace weft::tests {

// Two plans for the same small thing, a sum of all members' blocks on every member: what a new algorithm with
// a new kind of operation takes. IN_MY, OUT_MY.

inline graph::builder one_block_for_all(std::uint32_t me, const graph::topology& g, std::uint64_t bytes) {
  graph::builder b(me, g.size(), 0);
  b.blocks_of({.bytes = bytes});
  b.draft().pairs = graph::pattern::all_pairs;
  b.draft().in = b.draft().out = graph::sync::my;
  return b;
}

// Every member sends its block to all others, and each combines them itself.
inline graph::plan all_reduce_eager(std::uint32_t me, const graph::topology& g, std::uint64_t bytes) {
  using namespace graph;
  builder b = one_block_for_all(me, g, bytes);
  plan& p = b.draft();
  p.chunk = bytes;
  p.chunks = 1;
  p.eager = true;
  p.eager_bytes[0] = static_cast<std::uint32_t>(bytes);
  p.far = !g.far().empty();
  p.scratch = bytes;
  const std::uint8_t taken = b.add_place({.bytes = bytes});
  const node_set own = b.add(copy_own());
  b.add(publish());
  b.loop(range::far, static_cast<std::uint32_t>(g.far().size()), builder::step_list().then(send_payload()));
  b.loop(range::others, g.size() - 1,
         builder::step_list()
             .then(writing(take_payload(), buffer::scratch, taken))
             .then(combine_own(buffer::scratch, taken)),
         own, true);
  return b.finish();
}

// On one host: in pieces, each by whoever is there.
inline graph::plan all_reduce_shared(std::uint32_t me, const graph::topology& g, std::uint64_t bytes) {
  using namespace graph;
  builder b = one_block_for_all(me, g, bytes);
  plan& p = b.draft();
  p.chunk = chunk_size(bytes, 4096);
  p.chunks = static_cast<std::uint32_t>((bytes + p.chunk - 1) / p.chunk);
  const auto near = static_cast<std::uint32_t>(g.near().size());
  const node_set entered = b.loop(range::near, near, builder::step_list().then(await_entry()));
  b.add(combine_all(), entered);
  return b.finish();
}

inline graph::movement sum_of_all(std::uint64_t bytes) {
  graph::movement m{graph::pattern::all_pairs, {.bytes = bytes}};
  m.combined = true;
  return m;
}

} // namespace weft::tests
