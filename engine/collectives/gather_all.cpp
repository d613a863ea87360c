// SPDX-License-Identifier: BSD-3-Clause
// Gather-all: block i of every member's destination is member i's block.
//
// UPC collectives V1.0, 4.2.4. Source: n bytes on each. Destination: P*n bytes on each. P members on N hosts,
// L on each.
//
// flat   Eager: every member publishes its block once. Direct: P*P copies of n bytes, one step; L*(P-L)*n
//        bytes into every host.
// bundled  Small, under IN_MY: the blocks of a host go to another one in one message, those of all members
// that
//        have entered by then; what comes later goes in the next one. P-L blocks into every host, once.
// ring   The leader of a host reads its neighbours' blocks, then sends blocks to the leader before it: first
//        those of its own host, then what it receives, each as soon as it is there. P-L puts of n bytes a
//        host, N-1 hops; (P-L)*n bytes into every host, once. The neighbours follow their leader block by
//        block.
// bruck  The same between leaders in ceil(log_r N) rounds of r - 1 messages: in round k each has the blocks
// of
//        r^k hosts. Packed, as eager payloads. The neighbours copy when the leader has all.
// doubling  N is a power of two. In round k two leaders whose hosts differ in bit k swap all blocks that each
//        has by then, those of 2^k hosts: log2(N) hops. Puts into the partner's destination, those blocks in
//        one put that lie side by side: log2(N) puts if the members of a host are consecutive, P-L at most;
//        (P-L)*n bytes into every host, once. A partner says when its puts are in place: a count would not
//        do, for the next partner may be earlier. The neighbours follow their leader round by round.
#include "engine/collectives/between_leaders.hpp"

#include <algorithm>
#include <bit>

namespace weft::collectives {
using namespace graph;

plan compile_flat_gather_all(const request& r, const topology& g, const tuning& t) {
  const std::uint64_t own = r.in_place ? r.bytes : 0; // in place: block i of member i's own destination
  return relocate(r, pattern::all_pairs, {.bytes = r.bytes, .src_i = own, .dst_i = r.bytes}, g, t);
}

std::uint64_t cost_of_flat_gather_all(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t locals = g.largest_host(), far = g.size() - locals;
  if (far != 0 && sent_ahead(r, g, t)) return c.messages(locals * far, r.bytes) + c.copies(locals, r.bytes);
  return (far == 0 ? 0 : c.gets(locals * far, r.bytes, r.out == sync::my)) + c.copies(locals, r.bytes);
}

bool fits_bundled_gather_all(const request& r, const topology& g, const tuning& t) {
  return fits_bundled(r, true, g, t);
}
std::uint64_t cost_of_bundled_gather_all(const request& r, const topology& g, const tuning& t) {
  return cost_of_bundled(r, true, g, t);
}
plan compile_bundled_gather_all(const request& r, const topology& g, const tuning& t) {
  return relocate_bundled(r, pattern::all_pairs, {.bytes = r.bytes, .dst_i = r.bytes}, g, t);
}

namespace {

// So many copies by each neighbour of a leader; none if no rank has neighbours.
std::uint64_t followed(std::uint64_t count, const request& r, const topology& g, const cost_model& c) {
  return g.largest_host() == 1 ? 0 : c.copies(count, r.bytes);
}

} // namespace

bool fits_ring(const request& r, const topology& g, const tuning&) {
  return may_relay(r, g);
}

std::uint64_t cost_of_ring(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t between = cost_of_ring_of_leaders(r.bytes, g, c);
  const std::uint64_t hops = (g.hosts() - 1) * c.put_and_count();
  return c.copies(g.largest_host(), r.bytes) +
         std::max(between, hops + followed(g.size() - g.size() / g.hosts(), r, g, c)); // while the next come
}

namespace {

// The block of the step-th member in ring order, counted from the first member behind my host.
constexpr blocks blocks_behind{.name = "next block of other hosts",
                               .each =
                                   [](const plan&, const topology& g, const action& a, block_visitor visit) {
                                     const std::uint32_t host = g.host(a.me);
                                     each_of_run(g, a, {g.first(host) + g.members(host) + a.step, 1}, visit);
                                   },
                               .one_a_step = true};

// The blocks of my own host: each rank reads them from their owners.
node_set read_neighbours(hierarchical& s) {
  builder::step_list steps;
  steps.then(get_from_each()).then_if(s.modes.tells_ends(), count_for_each(fact::consumed, 1));
  return s.b.add(copy_own(), s.gate) | s.b.loop(range::near, s.near(), steps, s.gate);
}

// Each rank's source is read by its neighbours, the leader's destination too.
std::uint32_t readers(const hierarchical& s) {
  return s.leader ? 2 * s.near() : s.near();
}

} // namespace

plan compile_ring(const request& r, const topology& g, const tuning& t) {
  hierarchical s(r, pattern::all_pairs, {.bytes = r.bytes, .dst_i = r.bytes}, g, t);
  const std::uint8_t member = s.of_member();
  s.stream(r.bytes, t);
  node_set data = read_neighbours(s);
  if (s.leader) return s.finish(data | ring_of_leaders(s, member, data), readers(s));
  builder::step_list steps;
  steps.then(await_steps(peer_rule::each)).then(of_blocks(get_handed_on(member), blocks_behind));
  const node_set rest = s.b.loop(range::follow, g.size() - s.near() - 1, steps);
  return s.finish(data | rest | s.tell_leader(rest), readers(s));
}

namespace {
dissemination best_bruck(const request& r, const topology& g, const tuning& t) {
  const std::uint64_t members = g.largest_host();
  return best_dissemination(g, t, 1, r.bytes, [&](std::uint32_t, round_step step) {
    return members * std::min(step.weight, g.hosts() - step.distance());
  });
}
} // namespace

bool fits_bruck(const request& r, const topology& g, const tuning& t) {
  return may_relay(r, g) && best_bruck(r, g, t);
}

std::uint64_t cost_of_bruck(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  return best_bruck(r, g, t).cost +
         c.copies(g.largest_host() + (g.largest_host() > 1 ? g.size() : 0), r.bytes);
}

plan compile_bruck(const request& r, const topology& g, const tuning& t) {
  hierarchical s(r, pattern::all_pairs, {.bytes = r.bytes, .dst_i = r.bytes}, g, t);
  const std::uint8_t member = s.of_member();
  const dissemination rounds = best_bruck(r, g, t);
  s.p().radix = rounds.radix;
  node_set data = read_neighbours(s);
  if (!s.leader) {
    const std::uint32_t far = g.size() - s.near() - 1;
    const node_set ready = s.each(range::leader, 1, await_ready());
    const node_set rest = s.each(range::follow, far, of_blocks(get_handed_on(member), blocks_behind), ready);
    return s.finish(data | rest | s.tell_leader(rest), readers(s));
  }
  data |= disseminate(s, rounds, range::host_rounds, blocks::known, {buffer::destination, member}, data);
  if (s.near() != 0) data |= s.b.add(publish_ready(), data);
  return s.finish(data, readers(s));
}

bool fits_doubling(const request& r, const topology& g, const tuning&) {
  return may_relay(r, g) && std::has_single_bit(g.hosts());
}

std::uint64_t cost_of_doubling(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t far = into_node(g);
  const std::uint64_t puts = in_rank_order(g) ? static_cast<std::uint64_t>(std::countr_zero(g.hosts())) : far;
  return c.copies(g.largest_host(), r.bytes) + cost_of_doubling_of_leaders(far * r.bytes, puts, g, c) +
         followed(g.size() / 2, r, g, c); // the last half
}

plan compile_doubling(const request& r, const topology& g, const tuning& t) {
  hierarchical s(r, pattern::all_pairs, {.bytes = r.bytes, .dst_i = r.bytes}, g, t);
  const std::uint8_t member = s.of_member();
  const node_set data = read_neighbours(s);
  if (s.leader) return s.finish(data | doubling_of_leaders(s, member, s.near() != 0, data), readers(s));
  builder::step_list steps;
  steps.then(await_steps(peer_rule::each)).then(of_blocks(get_handed_on(member), blocks::other_half));
  const auto rounds = static_cast<std::uint32_t>(std::countr_zero(g.hosts()));
  const node_set rest = s.b.loop(range::follow, rounds, steps);
  return s.finish(data | rest | s.tell_leader(rest), readers(s));
}

// V0.3, 5.3.4: thread i's nbytes[i] bytes at src[i] go to dst[j*T+i] on each thread j. In place they are what
// dst[i*T+i] points to.
plan compile_gather_all_x(const request& r, const topology& g, const tuning& t) {
  return relocate(r, pattern::all_pairs, {.bytes = 1, .dst_i = 1}, g, t,
                  {.src = {found::at_source, r.in_place ? column::own : column::only},
                   .dst = {found::at_destination, column::other},
                   .size = {found::at_source}});
}

} // namespace weft::collectives
