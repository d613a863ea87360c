// SPDX-License-Identifier: BSD-3-Clause
#include "engine/plan/resolve.hpp"

#include "engine/topology/topology.hpp"

#include <algorithm>

namespace weft::graph {

namespace {

using number = std::uint32_t;
using P = const plan&;
using G = const topology&;

constexpr number any_number = ~number{0};

number length(const std::vector<number>& members) {
  return static_cast<number>(members.size());
}
number one(P, G) {
  return 1;
}
number my_leader(P p, G g, peer_rule, number) {
  return leader_of(p, g, own_host(p, g));
}
number rows_tell(P, G, peer_rule, number) {
  return found_by_rows;
}

} // namespace

constexpr range range::root{
    .name = "root", .count = one, .peer = [](P p, G, peer_rule, number) { return p.root; }};
constexpr range range::near{.name = "near",
                            .count = [](P, G g) { return length(g.near()); },
                            .peer = [](P, G g, peer_rule, number k) { return g.near()[k]; },
                            .only = lane::near};
constexpr range range::far{.name = "far",
                           .count = [](P, G g) { return length(g.far()); },
                           .peer = [](P, G g, peer_rule, number k) { return g.far()[k]; },
                           .only = lane::far};
constexpr range range::others{
    .name = "others",
    .count = [](P, G g) { return g.size() - 1; },
    .peer = [](P p, G g, peer_rule, number k) { return (p.me + 1 + k) % g.size(); }};
constexpr range range::far_but_root{
    .name = "far, but the root",
    .count =
        [](P p, G g) {
          const number far = length(g.far());
          return g.is_near(p.root) ? far : far - 1;
        },
    .peer =
        [](P p, G g, peer_rule, number k) {
          if (g.is_near(p.root)) return g.far()[k];
          const auto root = std::ranges::find(g.far(), p.root);
          return g.far()[k < static_cast<std::size_t>(root - g.far().begin()) ? k : k + 1];
        },
    .only = lane::far};
constexpr range range::earlier{.name = "earlier members",
                               .count = [](P p, G) { return p.me; },
                               .peer = [](P p, G, peer_rule, number k) { return p.me - 1 - k; }};
// Each member's list of the far ones begins behind itself.
constexpr range range::far_later{
    .name = "far and later",
    .count =
        [](P p, G g) {
          return static_cast<number>(std::ranges::count_if(g.far(), [&](number r) { return r > p.me; }));
        },
    .peer = [](P, G g, peer_rule, number k) { return g.far()[k]; },
    .only = lane::far};
constexpr range range::hosts{.name = "other hosts",
                             .count = [](P, G g) { return g.hosts() - 1; },
                             .peer =
                                 [](P p, G g, peer_rule, number k) {
                                   const number mine = own_host(p, g);
                                   return leader_towards(g, (mine + 1 + k) % g.hosts(), mine);
                                 }};
constexpr range range::named{.name = "named", .count = one, .peer = rows_tell, .by_rows = true};
constexpr range range::naming{.name = "naming", .count = one, .peer = rows_tell, .by_rows = true};

constexpr range range::leader{
    .name = "my leader", .count = [](P p, G g) -> number { return leads(p, g) ? 0 : 1; }, .peer = my_leader};
constexpr range range::next{
    .name = "the next leader",
    .count = [](P p, G g) { return leads(p, g) && g.hosts() > 1 ? any_number : 0; },
    .peer = [](P p, G g, peer_rule,
               number) { return leader_of(p, g, in_cycle(own_host(p, g), g.hosts(), false, 1)); }};
constexpr range range::follow{.name = "my leader, stepwise",
                              .count = [](P p, G g) { return leads(p, g) ? 0 : any_number; },
                              .peer = my_leader};
constexpr range range::leader_rounds{
    .name = "rounds of leaders",
    .count = [](P p, G g) { return leads(p, g) ? dissemination_rounds(g.hosts()) : 0; },
    .peer =
        [](P p, G g, peer_rule r, number k) {
          return leader_of(p, g, in_cycle(own_host(p, g), g.hosts(), r == peer_rule::ahead, number{1} << k));
        },
    .in_rounds = true};
// Counted downwards: the host ahead takes what mine sends.
constexpr range range::host_rounds{
    .name = "rounds of hosts",
    .count = [](P p,
                G g) { return leads(p, g) && p.radix >= 2 ? dissemination_steps(g.hosts(), p.radix) : 0; },
    .peer =
        [](P p, G g, peer_rule r, number k) {
          const number distance = round_step_of(k, p.radix).distance();
          return leader_of(p, g, in_cycle(own_host(p, g), g.hosts(), r != peer_rule::ahead, distance));
        },
    .in_rounds = true};
constexpr range range::partners{
    .name = "partners",
    .count =
        [](P p, G g) {
          const doubling d(g.hosts());
          return leads(p, g) && d.acts(own_host(p, g)) ? static_cast<number>(d.rounds) : 0;
        },
    .peer = [](P p, G g, peer_rule,
               number k) { return leader_of(p, g, doubling(g.hosts()).partner(own_host(p, g), k)); }};

std::uint32_t leader_of(const plan& p, const topology& g, std::uint32_t node) {
  return leader_of(g, p.root, node);
}

namespace {
using P = const plan&;
using G = const topology&;
using A = const action&;

member_run members_of(const topology& g, std::uint32_t host) {
  return {g.first(host), g.members(host)};
}
} // namespace

constexpr blocks blocks::readers{.name = "each reader's block",
                                 .each = [](P, G g, A a, block_visitor visit) { each_reader(g, a, visit); }};
constexpr blocks blocks::members{.name = "all blocks", .each = [](P, G g, A a, block_visitor visit) {
                                   for (coordinates c = coordinates_of(a); c.turn < g.size(); ++c.turn) {
                                     c.owner = c.turn;
                                     visit(c);
                                   }
                                 }};
constexpr blocks blocks::earlier{.name = "blocks up to mine", .each = [](P, G g, A a, block_visitor visit) {
                                   coordinates c = coordinates_of(a);
                                   for (; c.turn <= a.me; ++c.turn) {
                                     c.owner = c.turn;
                                     visit(c);
                                   }
                                 }};
constexpr blocks blocks::of_host{.name = "blocks of its host", .each = [](P, G g, A a, block_visitor visit) {
                                   each_of_run(g, a, members_of(g, g.host(a.to)), visit);
                                 }};
constexpr blocks blocks::to_host{.name = "blocks for its host", .each = [](P, G g, A a, block_visitor visit) {
                                   const member_run there = members_of(g, g.host(a.to));
                                   for (coordinates c = coordinates_of(a); c.turn < there.count; ++c.turn) {
                                     c.to = g.in_host_order(there.begin + c.turn);
                                     visit(c);
                                   }
                                 }};
constexpr blocks blocks::known{
    .name = "known blocks",
    .each =
        [](P p, G g, A a, block_visitor visit) {
          each_of_run(g, a, sent_in_step(g, g.host(a.from), round_step_of(a.step, p.radix)), visit);
        },
    .packed = true};
constexpr blocks blocks::half{.name = "my half", .each = [](P, G g, A a, block_visitor visit) {
                                each_of_run(g, a, half_in_round(g, g.host(a.me), a.step), visit);
                              }};
constexpr blocks blocks::other_half{.name = "other half", .each = [](P, G g, A a, block_visitor visit) {
                                      const std::uint32_t partner =
                                          doubling(g.hosts()).partner(g.host(a.me), a.step);
                                      each_of_run(g, a, half_in_round(g, partner, a.step), visit);
                                    }};

void each_of_run(const topology& g, const action& a, member_run of, block_visitor visit) {
  for (coordinates c = coordinates_of(a); c.turn < of.count; ++c.turn) {
    c.owner = g.in_host_order((of.begin + c.turn) % g.size());
    visit(c);
  }
}

void each_block(const plan& p, const topology& g, const node& n, const action& a, block_visitor visit) {
  if (n.of != nullptr) return n.of->each(p, g, a, visit);
  coordinates c = coordinates_of(a);
  c.turn = slice_of(p, g, n, a);
  visit(c);
}

void each_move(const plan& p, const topology& g, const node& n, const action& a,
               visitor<const region&> visit) {
  const auto move = [&](const coordinates& c) { visit(region_at(p, n, c)); };
  each_block(p, g, n, a, block_visitor(move));
}

region region_of_step(const plan& p, const topology& g, const node& n, const action& a) {
  return region_at(p, n, {a.from, a.to, a.step, 0, slice_of(p, g, n, a)});
}

void each_joined(const plan& p, const topology& g, const node& n, const action& a,
                 visitor<const region&> visit) {
  region pending;
  const auto join = [&](const region& r) {
    if (pending.read + pending.bytes == r.read && pending.write + pending.bytes == r.write) {
      pending.bytes += r.bytes;
      return;
    }
    if (pending.bytes != 0) visit(pending);
    pending = r;
  };
  each_move(p, g, n, a, visitor<const region&>(join));
  if (pending.bytes != 0) visit(pending);
}

std::uint64_t packed_bytes(const plan& p, const topology& g, const node& n, const action& a) {
  std::uint64_t bytes = 0;
  const auto add = [&](const region& r) { bytes += r.bytes; };
  each_move(p, g, n, a, visitor<const region&>(add));
  return bytes;
}

} // namespace weft::graph
