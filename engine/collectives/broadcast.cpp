// SPDX-License-Identifier: BSD-3-Clause
// Broadcast: the root's block goes to the same place on every member, the root included.
//
// UPC collectives V1.0, 4.2.1. Source: the block itself on the root. Destination: one block of n bytes on
// each. P members on N hosts.
//
// flat     Eager: the root publishes once, n bytes, whichever rank reads. Direct: each member copies for
//          itself, or the root does for those that are away. P*n bytes moved in all, one step, (P-1)*n of
//          them out of the root's host.
// relayed  Eager, under IN_MY: the flat plan, but the root sends to the members of some hosts only, and the
//          engine of one of each hands the payload on, in a tree of radix k over the hosts, whether its rank
//          has entered or not. P-1 payloads in all, ceil(log_k N) hops, none by a rank that is waited for.
//          No rank sends more than (k-1)*ceil(log_k N)*m payloads, with m members on a host.
// knomial  A tree of radix k over the hosts, ceil(log_k N) steps, at most k-1 sends a step, P-1 payloads in
//          all. Small: a host's leader takes the payload from its own slot of the parent's mailbox, sends it
//          on, and publishes it to its neighbours. Large: put, flush, count; the neighbours copy from the
//          leader's destination. No rank sends more than (k-1)*ceil(log_k N)*n bytes. k is what costs least.
// chain    From leader to leader in S pieces, each handed on as soon as it is there: N-1 + S-1 steps of n/S
//          bytes, and no host sends more than n.
// bundled  Small, under IN_NO: a host asks the root's for it, once for all its members. N-1 messages there,
//          and N-1 back.
// scatter  Large and over many hosts: the root scatters the block, then each host has the pieces of all. The
//          root puts the piece of each host to its leader, n bytes out of the root's host. Then the leaders
//          gather all: by doubling if the hosts are a power of two, n bytes out of every host in log2(N)
//          hops, else around a ring in N-1. The neighbours copy when their leader has all, the root's own
//          ones at once. Twice the bytes of a chain, and few of its hops; a tree's hops, and few of its
//          bytes. The doubling begins with the host that is farthest, while there is little, and ends with
//          the next one: where hosts that follow each other are a group of the network (of G), every group
//          hears each piece once, and (N/G-1)*n bytes go from group to group; N-G times n if it began with
//          the next one. The pieces lie in the order of the hosts' numbers read backwards, so that what goes
//          in one message lies together.
#include "engine/collectives/between_leaders.hpp"
#include "engine/special_paths.hpp"
#include "engine/topology/topology.hpp"

#include <algorithm>
#include <bit>

namespace weft::collectives {
using namespace graph;

plan compile_flat_broadcast(const request& r, const topology& g, const tuning& t) {
  return relocate(r, pattern::from_root, {.bytes = r.bytes}, g, t);
}

// Under IN_MY an engine hands it on. The root's, or one that asks for it, sends it once to each host.
bool fits_bundled_broadcast(const request& r, const topology& g, const tuning& t) {
  return r.in == sync::no && fits_bundled(r, true, g, t);
}
std::uint64_t cost_of_bundled_broadcast(const request& r, const topology& g, const tuning& t) {
  return cost_of_bundled(r, true, g, t);
}
plan compile_bundled_broadcast(const request& r, const topology& g, const tuning& t) {
  return relocate_bundled(r, pattern::from_root, {.bytes = r.bytes}, g, t);
}

bool fits_hierarchical_broadcast(const request& r, const topology& g, const tuning&) {
  return may_relay(r, g);
}

namespace {

constexpr std::uint32_t most_radix = 255; // a message has a byte for it

// True if a put keeps the wire busy for longer than its way there and back.
bool streams(const request& r, const tuning& t) {
  const cost_model c(t.costs);
  return r.bytes > t.eager_bytes && c.of_bytes(r.bytes) > 2 * t.costs.latency;
}

std::uint64_t cost_of_tree(std::uint32_t radix, const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t hop = r.bytes <= t.eager_bytes ? c.message() : c.put_and_count();
  // Large ones go to one child after the other.
  const std::uint64_t between = streams(r, t) ? (radix - 2) * 2 * c.table().latency : 0;
  const std::uint64_t level = hop + c.wire(radix - 1, r.bytes) + between;
  return tree::depth(g.hosts(), radix) * level + c.copies(2, r.bytes);
}

using cost_by_radix = std::uint64_t(std::uint32_t radix, const request& r, const topology& g,
                                    const tuning& t);
std::uint32_t best_radix(const request& r, const topology& g, const tuning& t,
                         cost_by_radix cost = cost_of_tree) {
  const std::uint32_t nodes = std::max(2u, g.hosts());
  std::uint32_t best = std::min(nodes, most_radix);
  for (std::uint32_t radix = std::min(nodes, 16u); radix >= 2; --radix)
    if (cost(radix, r, g, t) <= cost(best, r, g, t)) best = radix;
  return best;
}

// All members of the hosts below hear from the one leader above them.
std::uint64_t cost_of_relays(std::uint32_t radix, const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t level = c.message() + c.wire((radix - 1) * g.largest_host(), r.bytes);
  return tree::depth(g.hosts(), radix) * level + c.copies(1, r.bytes);
}

// The tree over the leaders, counted from the root's host.
std::uint32_t vertex_of(const plan& p, const topology& g) {
  return (own_host(p, g) + g.hosts() - g.host(p.root)) % g.hosts();
}
std::uint32_t leader_at(const plan& p, const topology& g, std::uint32_t vertex) {
  return leader_of(p, g, (vertex + g.host(p.root)) % g.hosts());
}
constexpr range parent{
    .name = "parent",
    .count = [](const plan& p, const topology& g) -> std::uint32_t {
      return leads(p, g) && p.radix >= 2 && p.me != p.root;
    },
    .peer = [](const plan& p, const topology& g, peer_rule,
               std::uint32_t) { return leader_at(p, g, tree::parent(vertex_of(p, g), p.radix)); }};
// Largest subtree first.
constexpr range children{.name = "children",
                         .count =
                             [](const plan& p, const topology& g) {
                               return leads(p, g) && p.radix >= 2
                                          ? tree::children(vertex_of(p, g), g.hosts(), p.radix)
                                          : 0;
                             },
                         .peer =
                             [](const plan& p, const topology& g, peer_rule, std::uint32_t k) {
                               return leader_at(p, g, tree::child(vertex_of(p, g), g.hosts(), p.radix, k));
                             }};

plan eager_tree(hierarchical& s, std::uint64_t bytes) {
  s.p().eager = true;
  if (s.leader && s.near() != 0) s.p().eager_bytes[0] = static_cast<std::uint32_t>(bytes);
  const range& up = s.leader ? parent : range::leader;
  const node_set have = s.root ? s.gate : s.each(up, 1, take_payload());
  node_set data = have;
  if (s.root) data |= s.b.add(copy_own(), s.gate);
  if (s.leader && s.near() != 0)
    data |= s.b.add(s.root ? publish() : reading(publish(), buffer::destination, in_destination), have);
  const node send = s.root ? send_payload() : reading(send_payload(), buffer::destination, in_destination);
  data |= s.each(children, s.count(children), send, have);
  return s.finish(data, 0);
}

plan put_tree(hierarchical& s, bool one_by_one) {
  if (!s.leader && s.at_roots_node()) return s.finish(s.read_from_root(), 0);
  if (!s.leader) {
    builder::step_list steps;
    steps.then(await_steps(peer_rule::each)).then(get_handed_on(in_destination));
    steps.then_if(s.modes.tells_ends(), count_for_each(fact::consumed, 1));
    return s.finish(s.b.loop(range::leader, 1, steps), 0);
  }
  const node_set have = s.root ? s.gate : s.b.add(await_count(fact::delivered, 1));
  node_set data = s.root ? s.b.add(copy_own(), s.gate) : s.unless_neighbours_read(have);
  builder::step_list steps;
  steps.then(s.root ? put_to_each() : put_handed_on(in_destination))
      .then(order_each())
      .then(count_for_each(fact::delivered, 1));
  data |= s.b.loop(children, s.count(children), steps, have, one_by_one);
  return s.finish(data, s.near());
}

std::uint64_t cost_of_pieces(std::uint64_t piece, const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t count = (r.bytes + piece - 1) / piece;
  const std::uint64_t step = c.wire(1, piece) + c.wire(1, 0); // the piece and its count
  return (g.hosts() - 1) * (c.put_and_count() + step) + (count - 1) * step + c.copies(1, piece);
}

std::uint64_t best_piece(const request& r, const topology& g, const tuning& t) {
  std::uint64_t best = std::max<std::uint64_t>(1, r.bytes);
  for (std::uint64_t piece = 1024; piece < r.bytes; piece *= 2)
    if (cost_of_pieces(piece, r, g, t) < cost_of_pieces(best, r, g, t)) best = piece;
  return best;
}

} // namespace

std::uint64_t cost_of_knomial(const request& r, const topology& g, const tuning& t) {
  return cost_of_tree(best_radix(r, g, t), r, g, t);
}

plan compile_knomial(const request& r, const topology& g, const tuning& t) {
  hierarchical s(r, pattern::from_root, {.bytes = r.bytes}, g, t);
  s.p().radix = best_radix(r, g, t);
  return r.bytes <= t.eager_bytes ? eager_tree(s, r.bytes) : put_tree(s, streams(r, t));
}

bool fits_relayed(const request& r, const topology& g, const tuning& t) {
  const bool eager = r.in == sync::my && r.bytes <= t.eager_bytes; // waits for no rank
  return special::relays && t.relays && eager && sent_ahead(r, g, t) && r.bytes != 0 && !g.one_host();
}

std::uint64_t cost_of_relayed(const request& r, const topology& g, const tuning& t) {
  return cost_of_relays(best_radix(r, g, t, cost_of_relays), r, g, t);
}

plan compile_relayed(const request& r, const topology& g, const tuning& t) {
  return relocate(r, pattern::from_root, {.bytes = r.bytes}, g, t, {}, best_radix(r, g, t, cost_of_relays));
}

std::uint64_t cost_of_chain(const request& r, const topology& g, const tuning& t) {
  return cost_of_pieces(best_piece(r, g, t), r, g, t);
}

plan compile_chain(const request& r, const topology& g, const tuning& t) {
  hierarchical s(r, pattern::from_root, {.bytes = r.bytes}, g, t);
  const std::uint64_t bytes = best_piece(r, g, t);
  const auto count = static_cast<std::uint32_t>((r.bytes + bytes - 1) / bytes);
  const std::uint8_t piece = s.of_piece(bytes);
  s.stream(bytes, t);
  if (!s.leader && s.at_roots_node()) return s.finish(s.read_from_root(), 0);
  if (!s.leader) {
    builder::step_list steps;
    steps.then(await_steps(peer_rule::each)).then(get_handed_on(piece));
    const node_set data = s.b.loop(range::follow, count, steps);
    return s.finish(data | s.tell_leader(data), 0);
  }
  node_set data = 0;
  if (s.root) data |= s.b.add(copy_own(), s.gate);
  const bool last = (g.host(g.me()) + g.hosts() - 1) % g.hosts() == g.host(r.root);
  if (last) {
    data |= s.unless_neighbours_read(s.b.add(await_count(fact::delivered, count)));
  } else {
    builder::step_list steps;
    steps.then_if(!s.root, await_steps(peer_rule::self));
    const buffer from = s.root ? buffer::source : buffer::destination;
    steps.then(reading(put_handed_on(piece), from, piece))
        .then(order_each())
        .then(count_for_each(fact::delivered, 1));
    data |= s.b.pipeline(range::next, count, steps, s.root ? s.gate : 0);
  }
  return s.finish(data, s.near());
}

// V0.3, 5.3.1: the same block to dst[j] on each thread j, which reads its own pointer.
plan compile_broadcast_x(const request& r, const topology& g, const tuning& t) {
  const indirection rows{.src = {}, .dst = {found::at_destination}, .size = {}};
  return relocate(r, pattern::from_root, {.bytes = r.bytes}, g, t, rows);
}

namespace {

bool doubles(const topology& g) {
  return std::has_single_bit(g.hosts());
}

// Of a host, if they double; of a member, around a ring. Whole lines, so that no two ranks write to one.
std::uint64_t scattered_piece(std::uint64_t bytes, const topology& g) {
  constexpr std::uint64_t line = 64;
  const std::uint64_t pieces = doubles(g) ? g.hosts() : g.size();
  return ((bytes + pieces - 1) / pieces + line - 1) / line * line;
}

// The number of a host's piece: its own, of as many bits as all hosts have, read backwards.
std::uint32_t backwards(const topology& g, std::uint32_t host) {
  std::uint32_t number = 0;
  for (std::uint32_t bit = g.hosts() / 2; bit != 0; bit /= 2, host /= 2)
    number |= host % 2 * bit;
  return number;
}
constexpr range farthest_first{
    .name = "partners, the farthest first",
    .count = [](const plan& p, const topology& g) { return doubles(g) ? range::partners.count(p, g) : 0; },
    .peer = [](const plan& p, const topology& g, peer_rule,
               std::uint32_t k) { return leader_of(p, g, own_host(p, g) ^ (g.hosts() / 2 >> k)); }};
constexpr blocks piece_of_host{
    .name = "its host's piece",
    .each = [](const plan&, const topology& g, const action& a, block_visitor visit) {
      coordinates c = coordinates_of(a);
      c.owner = backwards(g, g.host(a.to));
      visit(c);
    }};
constexpr blocks pieces_by_then{
    .name = "my pieces by then",
    .each = [](const plan&, const topology& g, const action& a, block_visitor visit) {
      const std::uint32_t first = backwards(g, g.host(a.me)) >> a.step << a.step;
      for (coordinates c = coordinates_of(a); c.turn < std::uint32_t{1} << a.step; ++c.turn) {
        c.owner = first + c.turn;
        visit(c);
      }
    }};

} // namespace

bool fits_scattered(const request& r, const topology& g, const tuning& t) {
  return may_relay(r, g) && r.bytes > t.eager_bytes;
}

std::uint64_t cost_of_scattered(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t piece = scattered_piece(r.bytes, g);
  const std::uint64_t moved = (doubles(g) ? g.hosts() - 1 : into_node(g)) * piece;
  const auto rounds = static_cast<std::uint64_t>(std::countr_zero(g.hosts()));
  const std::uint64_t gathered =
      doubles(g) ? cost_of_doubling_of_leaders(moved, rounds, g, c) : cost_of_ring_of_leaders(piece, g, c);
  return cost_of_scatter_to_leaders(moved, g, c) + gathered + c.copies(2, r.bytes);
}

plan compile_scattered(const request& r, const topology& g, const tuning& t) {
  hierarchical s(r, pattern::from_root, {.bytes = r.bytes}, g, t);
  if (!s.leader && s.at_roots_node()) return s.finish(s.read_from_root(), 0);
  if (!s.leader) {
    const node_set ready = s.each(range::leader, 1, await_ready());
    const node_set copied = s.each(range::follow, 1, get_handed_on(in_destination), ready);
    return s.finish(copied | s.tell_leader(copied), 0);
  }
  const std::uint64_t bytes = scattered_piece(r.bytes, g);
  const std::uint8_t piece = s.b.add_place({.owner = bytes, .bytes = bytes, .end = r.bytes});
  const blocks& of_host = doubles(g) ? piece_of_host : blocks::of_host;
  s.stream(bytes, t);
  const node_set scattered = scatter_to_leaders(s, piece, s.root ? s.gate : 0, of_host);
  node_set here = scattered;
  if (s.root) { // what is for my own host
    const node own = writing(reading(copy_own(), buffer::source, piece), buffer::destination, piece);
    here = s.b.add(of_blocks(own, of_host), s.gate);
  }
  const bool read = s.near() != 0 && !s.root; // the root's neighbours read its source
  s.b.begin_phase(1);
  const node_set all = doubles(g) ? doubling_of_leaders(s, piece, false, here, farthest_first, pieces_by_then)
                                  : ring_of_leaders(s, piece, here);
  s.b.begin_phase(0);
  node_set data = scattered | all;
  if (read) data |= s.b.add(publish_ready(), all);
  return s.finish(data, s.near());
}

} // namespace weft::collectives
