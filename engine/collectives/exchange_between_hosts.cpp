// SPDX-License-Identifier: BSD-3-Clause
// Exchanges whose blocks go between hosts together. P members on N hosts, L on each.
//
// paired  Two hosts exchange all in m messages each way, of m pairs of members, each with the blocks of an
//         m-th of the sending host's members: L*L/m blocks. m*(N-1) messages a host, which its members
//         share, each with every L-th of them. A rank that leads a pair reads what leaves in its neighbours'
//         sources, and writes what arrives into their destinations. One hop. m is 1 but where such a message
//         is too long for a payload, or few hosts would leave all to few members.
// bruck   Members of one number on their hosts, twins, exchange among themselves what is for them: a member
//         first reads in its neighbours' sources what is for its twins. Then ceil(log_r N) rounds of r - 1
//         messages: in round k it hands on all blocks that have a digit in the k-th place of the distance, in
//         hosts, that they have to go. About L*N/r blocks a message, L*N*(r-1)/r*log_r(N) in all.
#include "engine/collectives/between_leaders.hpp"
#include "engine/topology/topology.hpp"

#include <algorithm>

namespace weft::collectives {
using namespace graph;

namespace {

pairing pairing_of(const plan& p, const topology& g) {
  return {g, std::max(1u, p.radix)};
}
constexpr range paired{
    .name = "paired leaders",
    .count = [](const plan& p, const topology& g) { return g.one_host() ? 0 : pairing_of(p, g).led(g.me()); },
    .peer =
        [](const plan& p, const topology& g, peer_rule, std::uint32_t k) {
          const pairing of = pairing_of(p, g);
          return of.twin(of.of_mine(k));
        }};
// Of the member that is read, to all members of the hosts to which I lead its share. The owner of c is the
// number of the pair.
constexpr blocks leaving{.name = "leaving blocks",
                         .each = [](const plan& p, const topology& g, const action& a, block_visitor visit) {
                           const pairing of = pairing_of(p, g);
                           const std::uint32_t giver = g.local_index(a.from);
                           coordinates c = coordinates_of(a);
                           of.each_led(c.owner, [&](std::uint32_t pair) {
                             const member_run share = of.share(g.host(a.me), pair);
                             if (giver < share.begin || giver - share.begin >= share.count) return;
                             const std::uint32_t there = of.other_host(pair), takers = g.members(there);
                             for (std::uint32_t k = 0; k < takers; ++k) {
                               c.to = g.in_host_order(g.first(there) + k);
                               c.turn = (giver - share.begin) * takers + k;
                               visit(c);
                             }
                           });
                         }};
// Those of the share of the sender's host to all members of the receiver's. The owner is the number of the
// pair at the rank that does it.
constexpr blocks crossing{.name = "crossing blocks",
                          .each = [](const plan& p, const topology& g, const action& a, block_visitor visit) {
                            const pairing of = pairing_of(p, g);
                            const std::uint32_t givers = of.share(g.host(a.from), of.of_mine(a.step)).count;
                            coordinates c = coordinates_of(a);
                            for (c.owner = a.step; c.turn < givers * g.members(g.host(a.to)); ++c.turn)
                              visit(c);
                          }};
// Those of the shares that I lead of other hosts, to the member that is written.
constexpr blocks arriving{.name = "arriving blocks",
                          .each = [](const plan& p, const topology& g, const action& a, block_visitor visit) {
                            const pairing of = pairing_of(p, g);
                            coordinates c = coordinates_of(a);
                            of.each_led(c.owner, [&](std::uint32_t pair) {
                              const std::uint32_t there = of.other_host(pair);
                              const member_run share = of.share(there, pair);
                              for (std::uint32_t k = 0; k < share.count; ++k) {
                                c.from = g.in_host_order(g.first(there) + share.begin + k);
                                c.turn = k * g.locals() + g.local_index(a.to);
                                visit(c);
                              }
                            });
                          }};

// Of equal hosts: the steps of a dissemination over them, between members of one number on their hosts.
constexpr range twin_rounds{
    .name = "rounds of twins",
    .count =
        [](const plan& p, const topology& g) {
          return g.equal_hosts() && p.radix >= 2 ? dissemination_steps(g.hosts(), p.radix) : 0;
        },
    .peer =
        [](const plan& p, const topology& g, peer_rule rule, std::uint32_t k) {
          const std::uint32_t distance = round_step_of(k, p.radix).distance();
          return g.twin(in_cycle(own_host(p, g), g.hosts(), rule == peer_rule::ahead, distance));
        },
    .in_rounds = true};
// Of the member that is read, to my twins; and of the members of all other hosts, to me. The owner is the
// number of the block in the order of distances.
constexpr blocks outgoing{.name = "outgoing blocks",
                          .each = [](const plan&, const topology& g, const action& a, block_visitor visit) {
                            coordinates c = coordinates_of(a);
                            for (std::uint32_t d = 1; d < g.hosts(); ++d) {
                              c.to = g.twin((g.host(a.me) + d) % g.hosts());
                              c.owner = d * g.largest_host() + g.local_index(a.from);
                              visit(c);
                            }
                          }};
constexpr blocks incoming{.name = "incoming blocks",
                          .each = [](const plan&, const topology& g, const action& a, block_visitor visit) {
                            coordinates c = coordinates_of(a);
                            for (c.owner = g.largest_host(); c.owner < g.size(); ++c.owner) {
                              const std::uint32_t there =
                                  (g.host(a.me) + g.hosts() - c.owner / g.largest_host()) % g.hosts();
                              c.from = g.in_host_order(g.first(there) + c.owner % g.largest_host());
                              visit(c);
                            }
                          }};
// Those on their way over a distance, in hosts, that has this step's digit.
constexpr blocks on_their_way{
    .name = "travelling blocks",
    .each =
        [](const plan& p, const topology& g, const action& a, block_visitor visit) {
          coordinates c = coordinates_of(a);
          each_travelling(g.hosts(), p.radix, round_step_of(a.step, p.radix), [&](std::uint32_t d) {
            for (std::uint32_t k = 0; k < g.largest_host(); ++k, ++c.turn) {
              c.owner = d * g.largest_host() + k;
              visit(c);
            }
          });
        },
    .packed = true};

block_rule rule_of(const request& r) {
  return {.bytes = r.bytes, .src_j = r.bytes, .dst_i = r.bytes};
}

// Whose blocks for other hosts I send.
struct givers {
  bool me = true, neighbours = true;
};

// What is for me I read from my neighbours, and of what goes on those blocks that are mine to send, if there
// are any; then a neighbour's source has been read.
node_set read_sources(hierarchical& s, const blocks& going, std::uint8_t at, const givers& of = {}) {
  const auto to_scratch = [&](const node& n) { return of_blocks(writing(n, buffer::scratch, at), going); };
  builder::step_list steps;
  steps.then(get_from_each()).then_if(of.neighbours, to_scratch(get_from_each()));
  steps.then_if(s.modes.tells_ends(), count_for_each(fact::consumed, 1));
  const node_set own = s.b.add(copy_own(), s.gate) | (of.me ? s.b.add(to_scratch(copy_own()), s.gate) : 0);
  return own | s.b.loop(range::near, s.near(), steps, s.gate);
}

givers givers_of(const pairing& of) {
  const std::uint32_t me = of.g.local_index(of.g.me());
  givers found{false, false};
  std::uint32_t k = 0;
  of.each_led(k, [&](std::uint32_t pair) {
    const member_run share = of.share(of.g.host(of.g.me()), pair);
    const bool mine = me >= share.begin && me - share.begin < share.count;
    found.me |= mine;
    found.neighbours |= share.count > (mine ? 1u : 0u);
  });
  return found;
}

// Those that lead no pair read no more than their own blocks, and write nothing.
std::uint32_t neighbours_that_lead(const pairing& of) {
  const auto& near = of.g.near();
  return static_cast<std::uint32_t>(
      std::count_if(near.begin(), near.end(), [&](std::uint32_t k) { return of.led(k) != 0; }));
}

struct paired_messages {
  std::uint32_t pairs = 0; // of members, between two hosts; 0: there are none whose messages fit
  std::uint64_t bytes = 0; // of the longest one
  std::uint64_t cost = 0;
};

paired_messages with_pairs(std::uint32_t pairs, const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t locals = g.largest_host(), hosts = g.hosts() - 1, led = most_led(g, pairs);
  const std::uint64_t blocks = (locals + pairs - 1) / pairs * locals, message = blocks * r.bytes;
  if (message > payload_from(led, t)) return {};
  // More messages, as many bytes; fewer blocks for the member with the most of them.
  return {pairs, message,
          c.messages(hosts, locals * locals * r.bytes) + 2 * c.wire((pairs - 1) * hosts, 0) +
              2 * c.packs(led * blocks, r.bytes) + c.copies(locals, r.bytes)};
}
// The cheapest that fit.
paired_messages best_pairs(const request& r, const topology& g, const tuning& t) {
  paired_messages best;
  for (std::uint32_t pairs = 1; pairs <= g.smallest_host(); ++pairs)
    if (const paired_messages m = with_pairs(pairs, r, g, t); m.pairs != 0)
      if (best.pairs == 0 || m.cost < best.cost) best = m;
  return best;
}

} // namespace

bool fits_paired_exchange(const request& r, const topology& g, const tuning& t) {
  return may_relay(r, g) && g.largest_host() > 1 && best_pairs(r, g, t).pairs != 0;
}

std::uint64_t cost_of_paired_exchange(const request& r, const topology& g, const tuning& t) {
  return best_pairs(r, g, t).cost;
}

plan compile_paired_exchange(const request& r, const topology& g, const tuning& t) {
  hierarchical s(r, pattern::all_pairs, rule_of(r), g, t);
  const paired_messages best = best_pairs(r, g, t);
  s.p().radix = best.pairs == 1 ? 0 : best.pairs;
  const pairing of = pairing_of(s.p(), g);
  const std::uint64_t message = best.bytes, all = of.led(g.me()) * message;
  const auto in_scratch = [&](std::uint64_t begin) {
    return s.b.add_place({.base = begin, .owner = message, .turn = r.bytes, .bytes = r.bytes});
  };
  const std::uint8_t out = in_scratch(0), in = in_scratch(all), packed = s.of_message();
  s.p().scratch = 2 * all;
  s.sends(message);
  const node_set read = read_sources(s, leaving, out, givers_of(of));
  // No rank waits for a host before it has sent to all: a window of others would be waiting for me.
  builder::step_list tell, hear;
  tell.then(
      of_blocks(writing(reading(send_payload(), buffer::scratch, out), buffer::mailbox, packed), crossing));
  hear.then(
      of_blocks(writing(reading(take_payload(), buffer::mailbox, packed), buffer::scratch, in), crossing));
  const std::uint32_t pairs = s.count(paired);
  const node_set sent = s.b.loop(paired, pairs, tell, read);
  const node_set here = s.b.loop(paired, pairs, hear);
  const auto from_scratch = [&](const node& n) {
    return of_blocks(reading(n, buffer::scratch, in), arriving);
  };
  node_set data = read | sent | here;
  if (all != 0) {
    builder::step_list give;
    give.then(from_scratch(put_to_each())).then_if(s.modes.tells_ends(), count_for_each(fact::delivered, 1));
    data |= s.b.add(from_scratch(copy_own()), here) | s.b.loop(range::near, s.near(), give, here);
  }
  return s.finish(data, s.near(), neighbours_that_lead(of));
}

namespace {
dissemination best_bruck(const request& r, const topology& g, const tuning& t) {
  const std::uint64_t locals = g.largest_host();
  return best_dissemination(g, t, g.largest_host(), r.bytes, [&](std::uint32_t radix, round_step step) {
    return locals * travelling(g.hosts(), radix, step);
  });
}
} // namespace

bool fits_bruck_exchange(const request& r, const topology& g, const tuning& t) {
  return may_relay(r, g) && g.equal_hosts() && best_bruck(r, g, t);
}

std::uint64_t cost_of_bruck_exchange(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  return best_bruck(r, g, t).cost + c.packs(2 * g.size(), r.bytes) + c.copies(g.largest_host(), r.bytes);
}

plan compile_bruck_exchange(const request& r, const topology& g, const tuning& t) {
  hierarchical s(r, pattern::all_pairs, rule_of(r), g, t);
  // In scratch the blocks lie in the order of the distances that they have to go.
  const std::uint8_t distance = s.b.add_place({.owner = r.bytes, .bytes = r.bytes});
  s.p().scratch = g.size() * r.bytes;
  const dissemination rounds = best_bruck(r, g, t);
  s.p().radix = rounds.radix;
  const node_set read = read_sources(s, outgoing, distance);
  const node_set here = disseminate(s, rounds, twin_rounds, on_their_way, {buffer::scratch, distance}, read);
  const node arrived = of_blocks(reading(copy_own(), buffer::scratch, distance), incoming);
  return s.finish(read | s.b.add(arrived, here), s.near());
}

} // namespace weft::collectives
