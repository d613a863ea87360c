// SPDX-License-Identifier: BSD-3-Clause
#include "engine/plan/peers.hpp"

#include "engine/topology/host_patterns.hpp"

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

} // namespace weft::graph
