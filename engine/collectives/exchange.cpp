// SPDX-License-Identifier: BSD-3-Clause
// Exchange (all-to-all): block i of member j's source becomes block j of member i's destination.
//
// UPC collectives V1.0, 4.2.5; Cray's team all-to-all is the same movement. P*n bytes on each on both sides.
// In place the blocks of two members change places, see transpose.
//
// spread  Eager: P-1 slices published in the sender's own slot. Direct: P*P copies of n bytes, one step, each
//         begun when its two ends allow it; every member begins with another peer, and of those on other
//         hosts a window is under way at a time.
// bundled  Small, under IN_MY: the blocks to another host in one message, those of all members that have
//         entered by then; what comes later goes in the next one. No less than N-1 messages a host, and no
//         more than (N-1) for each member. One hop, and a copy.
// Blocks are handed on between hosts in exchange_between_hosts.cpp.
#include "engine/collectives/algorithm.hpp"
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

// Exchange in place: for each pair of members the blocks i -> j and j -> i change places. No second matrix:
// on one host a pair is claimed piece by piece and swapped through a few KiB of the carrier's; between hosts
// one end of the pair leads, with 64 KiB of scratch.
//
// Steps and bytes (n bytes a block): near pairs 3n copied, by either end; far pairs: get n, put n, n copied
// by the leader, piece after piece, then one count. The diagonal stays where it is.
plan transpose(const request& r, const block_rule& rule, const topology& g, const tuning& t,
               const indirection& indirect = {}) {
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

} // namespace

plan compile_spread(const request& r, const topology& g, const tuning& t) {
  const block_rule rule{.bytes = r.bytes, .src_j = r.bytes, .dst_i = r.bytes};
  return r.in_place ? transpose(r, rule, g, t) : relocate(r, pattern::all_pairs, rule, g, t);
}

std::uint64_t cost_of_spread(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t locals = g.largest_host(), far = g.size() - locals;
  if (far != 0 && sent_ahead(r, g, t)) return c.messages(locals * far, r.bytes) + c.copies(locals, r.bytes);
  const std::uint64_t windows = (far + t.window - 1) / t.window;
  return (far == 0 ? 0 : (windows - 1) * c.get() + c.gets(locals * far, r.bytes, r.out == sync::my)) +
         c.copies(locals, r.bytes);
}

bool fits_bundled_exchange(const request& r, const topology& g, const tuning& t) {
  return fits_bundled(r, false, g, t);
}
std::uint64_t cost_of_bundled_exchange(const request& r, const topology& g, const tuning& t) {
  return cost_of_bundled(r, false, g, t);
}
plan compile_bundled_exchange(const request& r, const topology& g, const tuning& t) {
  return relocate_bundled(r, pattern::all_pairs, {.bytes = r.bytes, .src_j = r.bytes, .dst_i = r.bytes}, g,
                          t);
}

// V0.3, 5.3.5: nbytes[j*T+i] bytes at src[j*T+i] on thread j go to dst[i*T+j] on thread i.
plan compile_exchange_x(const request& r, const topology& g, const tuning& t) {
  const block_rule rule{.bytes = 1, .src_j = 1, .dst_i = 1};
  const indirection rows{.src = {found::at_source, column::other},
                         .dst = {found::at_destination, column::other},
                         .size = {found::at_source, column::other}};
  return r.in_place ? transpose(r, rule, g, t, rows) : relocate(r, pattern::all_pairs, rule, g, t, rows);
}

} // namespace weft::collectives
