// SPDX-License-Identifier: BSD-3-Clause
#include "engine/plan/peers.hpp"

#include "engine/plan/in_order.hpp"
#include "engine/topology/host_pairs.hpp"
#include "engine/topology/rounds.hpp"
#include "engine/topology/tree.hpp"

namespace weft::graph {

namespace {

using number = std::uint32_t;

// A step in a cycle of `size`, so many places ahead, or behind.
number in_round(number at, number size, bool ahead, number distance) {
  return (ahead ? at + distance : at + size - distance) % size;
}
number distance_of(const plan& p, number step) {
  return round_step_of(step, p.radix).distance();
}

// My host's place in a tree that begins at the root's host, and the host at a place.
number vertex_of(const plan& p, const topology& g) {
  return (g.host(p.me) + g.hosts() - g.host(p.root)) % g.hosts();
}
number leader_at(const plan& p, const topology& g, number vertex) {
  return leader_of(p, g, (vertex + g.host(p.root)) % g.hosts());
}
number mine(const plan& p, const topology& g) {
  return g.host(p.me);
}

number length(const std::vector<number>& members) {
  return static_cast<number>(members.size());
}

constexpr number any_number = ~number{0};

number one(const plan&, const topology&) {
  return 1;
}
number my_leader(const plan& p, const topology& g, peer_rule, number) {
  return leader_of(p, g, mine(p, g));
}
number rows_tell(const plan&, const topology&, peer_rule, number) {
  return found_by_rows;
}

using P = const plan&;
using G = const topology&;

constexpr range_rule rules[] = {
    {range::root, "root", one, [](P p, G, peer_rule, number) { return p.root; }},
    {range::near, "near", [](P, G g) { return length(g.near()); },
     [](P, G g, peer_rule, number k) { return g.near()[k]; }},
    {range::far, "far", [](P, G g) { return length(g.far()); },
     [](P, G g, peer_rule, number k) { return g.far()[k]; }},
    {range::others, "others", [](P, G g) { return g.size() - 1; },
     [](P p, G g, peer_rule, number k) { return (p.me + 1 + k) % g.size(); }},
    {range::named, "named", one, rows_tell},
    {range::naming, "naming", one, rows_tell},
    {range::initiated, "initiated", [](P, G g) { return length(g.initiated()); },
     [](P, G g, peer_rule, number k) { return g.initiated()[k]; }},
    {range::initiators, "initiators", [](P, G g) { return length(g.initiators()); },
     [](P, G g, peer_rule, number k) { return g.initiators()[k]; }},
    range_rule{
        range::leaders, "leaders", [](P p, G g) { return leads(p, g) ? g.hosts() - 1 : 0; },
        [](P p, G g, peer_rule, number k) { return leader_of(p, g, (mine(p, g) + 1 + k) % g.hosts()); }},
    {range::leader, "my leader", [](P p, G g) -> number { return leads(p, g) ? 0 : 1; }, my_leader},
    range_rule{
        range::parent, "parent",
        [](P p, G g) -> number { return leads(p, g) && p.radix >= 2 && p.me != p.root ? 1 : 0; },
        [](P p, G g, peer_rule, number) { return leader_at(p, g, tree::parent(vertex_of(p, g), p.radix)); }},
    {range::children, "children",
     [](P p, G g) {
       return leads(p, g) && p.radix >= 2 ? tree::children(vertex_of(p, g), g.hosts(), p.radix) : 0;
     },
     [](P p, G g, peer_rule, number k) {
       return leader_at(p, g, tree::child(vertex_of(p, g), g.hosts(), p.radix, k));
     }},
    {range::next, "the next leader", [](P p, G g) { return leads(p, g) && g.hosts() > 1 ? any_number : 0; },
     [](P p, G g, peer_rule, number) { return leader_of(p, g, (mine(p, g) + g.hosts() - 1) % g.hosts()); }},
    {range::follow, "my leader, stepwise", [](P p, G g) { return leads(p, g) ? 0 : any_number; }, my_leader},
    range_rule{range::leader_rounds, "rounds of leaders",
               [](P p, G g) { return leads(p, g) ? dissemination_rounds(g.hosts()) : 0; },
               [](P p, G g, peer_rule r, number k) {
                 return leader_of(p, g,
                                  in_round(mine(p, g), g.hosts(), r == peer_rule::ahead, number{1} << k));
               },
               true},
    // Counted downwards: who is ahead of me takes what I send.
    {range::host_rounds, "rounds of hosts",
     [](P p, G g) { return leads(p, g) && p.radix >= 2 ? dissemination_steps(g.hosts(), p.radix) : 0; },
     [](P p, G g, peer_rule r, number k) {
       return leader_of(p, g, in_round(mine(p, g), g.hosts(), r != peer_rule::ahead, distance_of(p, k)));
     },
     true},
    range_rule{range::twin_rounds, "rounds of twins",
               [](P p, G g) {
                 return g.equal_hosts() && p.radix >= 2 ? dissemination_steps(g.hosts(), p.radix) : 0;
               },
               [](P p, G g, peer_rule r, number k) {
                 return g.twin(in_round(mine(p, g), g.hosts(), r == peer_rule::ahead, distance_of(p, k)));
               },
               true},
    {range::paired, "paired leaders", [](P, G g) { return g.one_host() ? 0 : hosts_led(g, g.me()); },
     [](P p, G g, peer_rule, number k) { return leader_towards(g, host_led(g, k), mine(p, g)); }},
    {range::partners, "partners",
     [](P p, G g) {
       const doubling d(g.hosts());
       return leads(p, g) && d.acts(mine(p, g)) ? static_cast<number>(d.rounds) : 0;
     },
     [](P p, G g, peer_rule, number k) {
       return leader_of(p, g, doubling(g.hosts()).partner(mine(p, g), k));
     }},
    {range::twins, "twins", [](P, G g) { return g.equal_hosts() ? g.hosts() - 1 : 0; },
     [](P p, G g, peer_rule, number k) { return g.twin((mine(p, g) + 1 + k) % g.hosts()); }},
    {range::below, "below",
     [](P p, G g) { return p.radix >= 2 ? relay_tree(g, p.root, p.radix).below(p.me) : 0; },
     [](P p, G g, peer_rule, number k) { return relay_tree(g, p.root, p.radix).child(p.me, k); }},
    range_rule{
        range::beside, "the leader beside me",
        [](P p, G g) -> number { return leads(p, g) && doubling(g.hosts()).paired(mine(p, g)) ? 1 : 0; },
        [](P p, G g, peer_rule, number) { return leader_of(p, g, mine(p, g) ^ 1); }},
    range_rule{range::rootward, "towards the root",
               [](P p, G g) -> number {
                 const doubling d(g.hosts());
                 const bool sends = d.place(mine(p, g)) != d.place(g.host(p.root));
                 return leads(p, g) && d.acts(mine(p, g)) && sends ? 1 : 0;
               },
               [](P p, G g, peer_rule, number) {
                 const doubling d(g.hosts());
                 return leader_of(p, g, d.partner(mine(p, g), d.leaves(mine(p, g), g.host(p.root))));
               }},
    {range::hosts, "other hosts", [](P, G g) { return g.hosts() - 1; },
     [](P p, G g, peer_rule, number k) {
       return leader_towards(g, (mine(p, g) + 1 + k) % g.hosts(), mine(p, g));
     }},
};

static_assert(in_order(rules, [](const range_rule& r) { return r.over; }));

} // namespace

const range_rule& rule_of(range over) {
  return rules[static_cast<std::size_t>(over)];
}

std::uint32_t leader_of(const plan& p, const topology& g, std::uint32_t node) {
  return leader_of(g, p.root, node);
}

} // namespace weft::graph
