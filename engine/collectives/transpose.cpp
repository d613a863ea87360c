// SPDX-License-Identifier: BSD-3-Clause
#include "engine/collectives/transpose.hpp"

#include "engine/collectives/sync_modes.hpp"

namespace weft::collectives {
using namespace graph;

namespace {

// Far members whose swap with me is mine to make, and those that make theirs with me.
constexpr range initiated{
    .name = "initiated",
    .count = [](const plan&, const topology& g) { return static_cast<std::uint32_t>(g.initiated().size()); },
    .peer = [](const plan&, const topology& g, peer_rule, std::uint32_t k) { return g.initiated()[k]; },
    .only = lane::far};
constexpr range initiators{
    .name = "initiators",
    .count = [](const plan&, const topology& g) { return static_cast<std::uint32_t>(g.initiators().size()); },
    .peer = [](const plan&, const topology& g, peer_rule, std::uint32_t k) { return g.initiators()[k]; },
    .only = lane::far};

} // namespace

plan transpose(const request& r, const block_rule& rule, const topology& g, const tuning& t,
               const indirection& indirect) {
  builder b(g.me(), g.size(), 0);
  sync_modes modes(b, g, r.in, r.out);
  plan& p = b.draft();
  p.pairs = pattern::all_pairs;
  b.blocks_of(rule);
  p.find(indirect);
  p.in_place = true;
  p.far = !g.one_host();
  cut_blocks(p, t);

  const node_set gate = modes.gate();
  const peers leading{&initiators, initiators.count(p, g)};
  modes.announce(leading);

  builder::step_list near;
  near.then_if(modes.each_waits(), await_entry()).then(claim_block(direction::swap));
  const auto neighbours = static_cast<std::uint32_t>(g.near().size());
  const node_set swapped = b.loop(range::near, neighbours, near, gate);

  builder::step_list far;
  far.then_if(modes.each_waits(), await_entry());
  fetch_rows(far, indirect, direction::in);
  fetch_rows(far, indirect, direction::out);
  far.then(save_piece()).then(put_to_each()).then(flush_each()).then(restore_piece());
  far.then_if(modes.tells_ends(), count_for_each(fact::delivered, 1));
  const node_set led = b.loop(initiated, initiated.count(p, g), far, gate);

  modes.exit(led, swapped, neighbours * p.chunks + (modes.tells_ends() ? leading.count : 0), 0);
  return b.finish();
}

} // namespace weft::collectives
