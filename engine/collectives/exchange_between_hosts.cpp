// SPDX-License-Identifier: BSD-3-Clause
// Exchanges whose blocks go between hosts together. P members on N hosts, L on each.
//
// paired  Two hosts tell each other all in one message each way, L*L blocks: N-1 messages a host, which its
//         members share, each leading to every L-th host. A rank that leads reads what leaves in its
//         neighbours' sources, and writes what arrives into their destinations. One hop.
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

// Of those hosts to which I lead the members that lead to mine, see topology/topology.hpp.
constexpr range paired{
    .name = "paired leaders",
    .count = [](const plan&, const topology& g) { return g.one_host() ? 0 : hosts_led(g, g.me()); },
    .peer = [](const plan& p, const topology& g, peer_rule,
               std::uint32_t k) { return leader_towards(g, host_led(g, k), own_host(p, g)); }};
// Calls visit(member, k, members) for each member of the hosts to which I lead: the k-th of so many of its
// host. The owner of c is the number of the host.
template <class Visit> void each_member_led(const topology& g, coordinates& c, Visit&& visit) {
  each_led(g, c.owner, [&](std::uint32_t there) {
    for (std::uint32_t k = 0; k < g.members(there); ++k)
      visit(g.in_host_order(g.first(there) + k), k, g.members(there));
  });
}
// Of the member that is read, to all members of the hosts to which I lead.
constexpr blocks leaving{.name = "leaving blocks",
                         .each = [](const plan&, const topology& g, const action& a, block_visitor visit) {
                           coordinates c = coordinates_of(a);
                           each_member_led(g, c,
                                           [&](std::uint32_t member, std::uint32_t k, std::uint32_t members) {
                                             c.to = member;
                                             c.turn = g.local_index(a.from) * members + k;
                                             visit(c);
                                           });
                         }};
// Those of all members of the sender's host to all of the receiver's. The owner is the number of the pair.
constexpr blocks crossing{.name = "crossing blocks",
                          .each = [](const plan&, const topology& g, const action& a, block_visitor visit) {
                            coordinates c = coordinates_of(a);
                            for (c.owner = a.step;
                                 c.turn < g.members(g.host(a.from)) * g.members(g.host(a.to)); ++c.turn)
                              visit(c);
                          }};
// Those of all members of the hosts to which I lead, to the member that is written.
constexpr blocks arriving{.name = "arriving blocks",
                          .each = [](const plan&, const topology& g, const action& a, block_visitor visit) {
                            coordinates c = coordinates_of(a);
                            each_member_led(g, c, [&](std::uint32_t member, std::uint32_t k, std::uint32_t) {
                              c.from = member;
                              c.turn = k * g.locals() + g.local_index(a.to);
                              visit(c);
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

// What is for me I read from my neighbours, and of what goes on those blocks that are mine to send, if there
// are any; then a neighbour's source has been read.
node_set read_sources(hierarchical& s, const blocks& going, std::uint8_t at, bool sends = true) {
  const auto to_scratch = [&](const node& n) { return of_blocks(writing(n, buffer::scratch, at), going); };
  builder::step_list steps;
  steps.then(get_from_each()).then_if(sends, to_scratch(get_from_each()));
  steps.then_if(s.modes.tells_ends(), count_for_each(fact::consumed, 1));
  const node_set own = s.b.add(copy_own(), s.gate) | (sends ? s.b.add(to_scratch(copy_own()), s.gate) : 0);
  return own | s.b.loop(range::near, s.near(), steps, s.gate);
}

// Those that lead to no host read no more than their own blocks, and write nothing.
std::uint32_t neighbours_that_lead(const topology& g) {
  const auto& near = g.near();
  return static_cast<std::uint32_t>(
      std::count_if(near.begin(), near.end(), [&](std::uint32_t k) { return hosts_led(g, k) != 0; }));
}

std::uint64_t pair_bytes(const request& r, const topology& g) {
  return std::uint64_t{g.largest_host()} * g.largest_host() * r.bytes;
}

} // namespace

bool fits_paired_exchange(const request& r, const topology& g, const tuning& t) {
  return may_relay(r, g) && g.largest_host() > 1 && pair_bytes(r, g) <= payload_from(most_led(g), t);
}

std::uint64_t cost_of_paired_exchange(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const std::uint64_t locals = g.largest_host(), led = most_led(g);
  return c.messages(g.hosts() - 1, pair_bytes(r, g)) + 2 * c.packs(led * locals * locals, r.bytes) +
         c.copies(locals, r.bytes);
}

plan compile_paired_exchange(const request& r, const topology& g, const tuning& t) {
  hierarchical s(r, pattern::all_pairs, rule_of(r), g, t);
  const std::uint64_t message = pair_bytes(r, g), all = hosts_led(g, g.me()) * message;
  const auto in_scratch = [&](std::uint64_t begin) {
    return s.b.add_place({.base = begin, .owner = message, .turn = r.bytes, .bytes = r.bytes});
  };
  const std::uint8_t out = in_scratch(0), in = in_scratch(all), packed = s.of_message();
  s.p().scratch = 2 * all;
  s.sends(message);
  const node_set read = read_sources(s, leaving, out, all != 0);
  // No rank waits for a host before it has sent to all: a window of others would be waiting for me.
  builder::step_list tell, hear;
  tell.then(
      of_blocks(writing(reading(send_payload(), buffer::scratch, out), buffer::mailbox, packed), crossing));
  hear.then(
      of_blocks(writing(reading(take_payload(), buffer::mailbox, packed), buffer::scratch, in), crossing));
  const std::uint32_t hosts = s.count(paired);
  const node_set sent = s.b.loop(paired, hosts, tell, read);
  const node_set here = s.b.loop(paired, hosts, hear);
  const auto from_scratch = [&](const node& n) {
    return of_blocks(reading(n, buffer::scratch, in), arriving);
  };
  node_set data = read | sent | here;
  if (all != 0) {
    builder::step_list give;
    give.then(from_scratch(put_to_each())).then_if(s.modes.tells_ends(), count_for_each(fact::delivered, 1));
    data |= s.b.add(from_scratch(copy_own()), here) | s.b.loop(range::near, s.near(), give, here);
  }
  return s.finish(data, s.near(), neighbours_that_lead(g));
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
