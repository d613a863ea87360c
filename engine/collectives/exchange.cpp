// Exchange (all-to-all): block i of member j's source becomes block j of member i's destination.
//
// UPC collectives V1.0, 4.2.5; Cray's team all-to-all is the same movement. P*n bytes on each on both sides.
// In place the blocks of two members change places (transpose.hpp).
//
// spread  Eager: P-1 slices published in the sender's own slot. Direct: P*P copies of n bytes, one step, each
//         begun when its two ends allow it; every member begins with another peer, and of those on other
//         hosts a window is under way at a time.
// bruck   ceil(log2 P) messages of about P/2 blocks: in round k every member hands on all blocks that have
//         bit k in the distance they have to go. n*P/2 bytes a message, n*P/2*log2(P) in all.
#include "engine/collectives/hierarchical.hpp"
#include "engine/collectives/transpose.hpp"

#include <algorithm>

namespace weft::collectives {
using namespace graph;

plan compile_spread(const request& r, const topology& g, const tuning& t) {
  const block_rule rule{.bytes = r.bytes, .src_j = r.bytes, .dst_i = r.bytes};
  return r.in_place ? transpose(r, rule, g, t) : relocate(r, pattern::all_pairs, rule, g, t);
}

std::uint64_t cost_of_spread(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t locals = g.largest_host(), far = g.size() - locals;
  const std::uint64_t windows = (far + t.window - 1) / t.window;
  return (far == 0 ? 0 : (windows - 1) * c.get() + c.gets(locals * far, r.bytes, r.out == sync::my)) +
         c.copies(locals, r.bytes);
}

namespace {
std::uint64_t most_travelling(std::uint32_t members) {
  std::uint32_t most = 0;
  for (std::uint32_t round = 0; round < dissemination_rounds(members); ++round)
    most = std::max(most, travelling(members, round));
  return most;
}
} // namespace

bool fits_bruck_exchange(const request& r, const topology& g, const tuning& t) {
  const std::uint64_t most = far_payload(t, g); // the second factor is at least one
  return may_relay(r, g) && g.hosts() == g.size() && r.bytes <= most &&
         most_travelling(g.size()) * r.bytes <= most;
}

std::uint64_t cost_of_bruck_exchange(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t rounds = dissemination_rounds(g.size()), most = most_travelling(g.size());
  return rounds * (c.message() + c.wire(1, most * r.bytes) + c.packs(2 * most, r.bytes));
}

plan compile_bruck_exchange(const request& r, const topology& g, const tuning& t) {
  hierarchical s(r, pattern::all_pairs, {.bytes = r.bytes, .src_j = r.bytes, .dst_i = r.bytes}, g, t);
  // In scratch the blocks lie in the order of the distances that they have to go.
  const std::uint8_t distance = s.b.add_place({.owner = r.bytes, .bytes = r.bytes}), message = s.of_message();
  s.p().scratch = s.p().packed = g.size() * r.bytes;
  s.sends(most_travelling(g.size()) * r.bytes);
  node_set ready = s.gate;
  ready |= s.b.add(of_blocks(writing(copy_own(), buffer::scratch, distance), blocks::outgoing), s.gate);
  builder::step_list steps;
  steps.then(send_packed(blocks::travelling, buffer::scratch, distance, message));
  steps.then(take_packed(blocks::travelling, buffer::scratch, distance, message));
  const node_set here = s.b.loop(range::rounds, dissemination_rounds(g.size()), steps, ready, true);
  const node arrived = of_blocks(reading(copy_own(), buffer::scratch, distance), blocks::incoming);
  const node_set data = s.b.add(copy_own(), s.gate) | s.b.add(arrived, here);
  return s.finish(data, 0);
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
