// SPDX-License-Identifier: BSD-3-Clause
// Reductions of few values among many ranks: what a host sends is as long as what it has combined, not as the
// team. P members on N hosts, L on each, partial results of n bytes.
//
// Members tell their leader what they have. It combines that, and leaders combine what they know pair by pair
// in a doubling: ceil(log2 N) messages, and two more where N is no power of two, for then the first hosts
// make pairs before, and tell the second one of a pair the rest behind. For a root a leader sends once, as
// soon as it has what comes to it in the rounds before: a binomial tree. Then a leader tells its neighbours
// all of it; of a prefix what lies on other hosts, and they hear from each other what is in front of them
// here.
//
// A message has the runs of ranks that a leader knows, left to right: engine/reductions/runs.hpp. With host
// after host that is one run of n bytes, dealt round the hosts it is L of them; the message has room for as
// many as any set of hosts of the doubling has, and where that is too long this way does not fit. Both of a
// pair join the same runs in the same order, so all have the same bits. To the verifier a run is the blocks
// of its members side by side: the plan is that of a gather, and the task says what they are in memory.
//
// Like in reductions.cpp what travels needs no entry of its receiver, and only where runs are handed on for a
// root all must be there.
#include "engine/collectives/algorithm.hpp"
#include "engine/collectives/operations.hpp"
#include "engine/collectives/relocate.hpp"
#include "engine/collectives/sync_modes.hpp"
#include "engine/memory/mailbox.hpp"
#include "engine/plan/resolve.hpp"
#include "engine/reductions/runs.hpp"
#include "engine/topology/topology.hpp"

#include <algorithm>

namespace weft::collectives {
using namespace graph;
using reductions::bytes_of_run;

namespace {

// The leader of the host that makes a pair with mine before the doubling, and the blocks of that host's
// members.
constexpr range leader_beside{.name = "the leader beside me",
                              .count = [](const plan& p, const topology& g) -> std::uint32_t {
                                return leads(p, g) && doubling(g.hosts()).paired(own_host(p, g));
                              },
                              .peer = [](const plan& p, const topology& g, peer_rule,
                                         std::uint32_t) { return leader_of(p, g, own_host(p, g) ^ 1); }};
constexpr blocks host_beside{
    .name = "blocks of the host beside mine",
    .each = [](const plan&, const topology& g, const action& a, block_visitor visit) {
      const std::uint32_t there = g.host(a.me) ^ 1;
      each_of_run(g, a, {g.first(there), g.members(there)}, visit);
    }};
constexpr blocks my_host{.name = "blocks of my host",
                         .each = [](const plan&, const topology& g, const action& a, block_visitor visit) {
                           const std::uint32_t mine = g.host(a.me);
                           each_of_run(g, a, {g.first(mine), g.members(mine)}, visit);
                         }};
// The leader of the place to which mine sends what goes to the root, if it is not the root's; and what has
// come together at the sender by then.
constexpr range rootward{.name = "towards the root",
                         .count = [](const plan& p, const topology& g) -> std::uint32_t {
                           const doubling d(g.hosts());
                           const std::uint32_t mine = own_host(p, g);
                           return leads(p, g) && d.acts(mine) && d.place(mine) != d.place(g.host(p.root));
                         },
                         .peer =
                             [](const plan& p, const topology& g, peer_rule, std::uint32_t) {
                               const doubling d(g.hosts());
                               const std::uint32_t mine = own_host(p, g);
                               return leader_of(p, g, d.partner(mine, d.leaves(mine, g.host(p.root))));
                             }};
constexpr blocks gathered{.name = "gathered blocks",
                          .each = [](const plan& p, const topology& g, const action& a, block_visitor visit) {
                            const std::uint32_t sender = g.host(a.from),
                                                round = doubling(g.hosts()).leaves(sender, g.host(p.root));
                            each_of_run(g, a, half_in_round(g, sender, round), visit);
                          }};

bool is_prefix(const request& r) {
  return prefixes(r.op);
}

// How many runs of ranks the members of a set have: a host, or the places that know the same in a round.
template <class Set> std::uint32_t most_runs(const topology& g, Set&& set) {
  std::vector<std::uint32_t> runs(g.hosts());
  std::uint32_t before = g.hosts();
  for (std::uint32_t rank = 0; rank < g.size(); ++rank) {
    const std::uint32_t here = set(g.host(rank));
    runs[here] += here != before;
    before = here;
  }
  return *std::max_element(runs.begin(), runs.end());
}

// What a message has room for. Without a host that is the members' own there may be one more.
std::uint64_t runs_of_message(const request& r, const topology& g) {
  std::uint32_t most = 1;
  if (!g.ranks_follow_hosts()) {
    const doubling d(g.hosts());
    most = most_runs(g, [](std::uint32_t host) { return host; });
    for (int round = 0; round <= d.rounds; ++round)
      most = std::max(most, most_runs(g, [&](std::uint32_t host) { return d.place(host) >> round; }));
  }
  return most + (is_prefix(r) ? 1u : 0u);
}

class combined_plan {
  using enum reductions::combined_stage;

public:
  combined_plan(const request& r, const topology& g)
      : request_(r), g_(g), b_(g.me(), g.size(), r.root), modes_(b_, g, r.in, r.out), pairs_(g.hosts()) {
    plan& p = b_.draft();
    p.pairs = rooted(r.op) ? pattern::to_root : pattern::all_pairs;
    b_.blocks_of({.bytes = r.bytes, .dst_i = r.bytes});
    p.chunk = r.bytes;
    p.chunks = 1;
    p.eager = p.computes = p.far = true;
    p.large = r.large;
    const std::uint64_t runs = runs_of_message(r, g);
    p.packed = runs * bytes_of_run(r.bytes);
    p.scratch = reductions::combined_runs::scratch(g.locals(), r.bytes, runs);
    if (p.packed > engine::mailbox::body_bytes) p.credit = engine::mailbox::large_places;
    given_by_peer_ = b_.add_place({.from = r.bytes, .bytes = r.bytes});
    given_ = table(0);
    known_ = table(1);
    came_ = table(2);
    told_ = table(3);
    own_ = b_.add_place({.base = g.size() * r.bytes, .to = r.bytes, .bytes = r.bytes}); // of what is known
    message_ = b_.add_place({.turn = r.bytes, .bytes = r.bytes});
  }

  plan make() { return leads(b_.draft(), g_) ? of_leader() : of_neighbour(); }

private:
  // Places that stand for the task's rows: a block of each member.
  std::uint8_t table(std::uint64_t number) {
    return b_.add_place(
        {.base = number * g_.size() * request_.bytes, .owner = request_.bytes, .bytes = request_.bytes});
  }
  std::uint32_t near() const { return static_cast<std::uint32_t>(g_.near().size()); }
  std::uint32_t mine() const { return g_.host(g_.me()); }
  bool first() const { return pairs_.acts(mine()); } // of a pair, or without one
  bool needs_result() const { return !rooted(request_.op) || g_.me() == request_.root; }
  node stage(std::uint32_t number, const blocks& of, std::uint8_t from, std::uint8_t to) const {
    const node n = compute(number, request_.bytes <= most_partials);
    return of_blocks(writing(reading(n, buffer::scratch, from), buffer::scratch, to), of);
  }
  // What has come and what is known already.
  node join(std::uint32_t number, const blocks& of, const range& over) const {
    node n = stage(number, of, came_, known_);
    n.needs = own_;
    n.over = &over;
    return n;
  }
  node send(std::uint32_t what, std::uint8_t from, const blocks& of) const {
    const node n = writing(reading(send_payload(), buffer::scratch, from), buffer::mailbox, message_);
    return at_stage(what, of_blocks(n, of));
  }
  node take(const blocks& of) const {
    const node n = writing(reading(take_payload(), buffer::mailbox, message_), buffer::scratch, came_);
    return at_stage(runs_that_came, of_blocks(n, of));
  }

  node_set give() {
    const node n = writing(compute(own_run, !request_.large), buffer::scratch, given_by_peer_);
    const node_set own = b_.add(n, modes_.gate());
    const bool heard = near() != 0 && (is_prefix(request_) || !leads(b_.draft(), g_));
    if (!heard) return own;
    b_.draft().eager_bytes[0] = static_cast<std::uint32_t>(request_.bytes);
    return own | b_.add(at_stage(own_run, reading(publish(), buffer::scratch, given_by_peer_)), own);
  }
  node_set take_given() {
    const node n = at_stage(own_run, writing(take_payload(), buffer::scratch, given_by_peer_));
    return b_.loop(range::near, near(), builder::step_list().then(n));
  }
  node_set make_result(node_set after) {
    node n = writing(reading(compute(combined_result, !request_.large), buffer::scratch, told_),
                     buffer::destination, given_);
    if (is_prefix(request_)) n.needs = given_by_peer_, n.over = &range::near;
    return b_.add(of_blocks(n, blocks::members), after);
  }

  plan of_leader() {
    const node_set given = give() | take_given();
    const node_set of_host = b_.add(stage(known_of_host, my_host, given_, known_), given);
    const node_set known = rooted(request_.op) ? gather(of_host) : know_all(of_host);
    return finish(given | known | tell_host(known));
  }
  // Of a pair the first one hears what the other one knows.
  node_set pair_up(node_set known) {
    builder::step_list pair;
    pair.then(first() ? take(host_beside) : send(known_runs, known_, my_host));
    pair.then_if(first(), join(known_of_pair, host_beside, leader_beside));
    return known | b_.loop(leader_beside, count(leader_beside), pair, known);
  }
  // Returns what ends with all that is known.
  node_set know_all(node_set known) {
    known = pair_up(known);
    b_.begin_phase(1);
    builder::step_list round;
    round.then(send(known_runs, known_, blocks::half)).then(take(blocks::other_half));
    round.then(join(known_of_more, blocks::other_half, range::partners));
    known |= b_.loop(range::partners, count(range::partners), round, known, 1);
    return pairs_.paired(mine()) ? known | rest(known) : known;
  }
  // The same for the root, to which every host sends once.
  node_set gather(node_set known) {
    known = pair_up(known);
    b_.begin_phase(1);
    const std::uint32_t root = g_.host(request_.root);
    builder::step_list round, on;
    round.then(take(gathered)).then(join(known_of_more, blocks::other_half, range::partners));
    if (first()) known |= b_.loop(range::partners, pairs_.leaves(mine(), root), round, known, 1);
    on.then(send(known_runs, known_, gathered));
    known |= b_.loop(rootward, count(rootward), on, known);
    const bool beside_root = pairs_.paired(root) && root % 2 != 0 && root / 2 == mine() / 2;
    return beside_root ? known | rest(known) : known;
  }
  // What the second one of a pair hears behind all rounds: so it need not look at what is known there.
  node_set rest(node_set known) {
    builder::step_list steps;
    if (first()) {
      known = b_.add(stage(rest_of_pair, blocks::members, known_, came_), known);
      steps.then(send(runs_of_rest, came_, blocks::members));
      return b_.loop(leader_beside, 1, steps, known);
    }
    steps.then(take(blocks::members)).then(stage(known_of_rest, blocks::members, came_, known_));
    return b_.loop(leader_beside, 1, steps);
  }
  node_set tell_host(node_set known) {
    if (!needs_result()) return 0;
    const node_set told = b_.add(stage(told_to_host, blocks::members, known_, told_), known);
    if (near() == 0 || rooted(request_.op)) return told;
    b_.draft().eager_bytes[1] = static_cast<std::uint32_t>(g_.size() * request_.bytes);
    const node n = writing(reading(publish(), buffer::scratch, told_), buffer::mailbox, message_);
    return told | b_.add(at_stage(told_runs, of_blocks(n, blocks::members)), told);
  }

  plan of_neighbour() {
    node_set given = give();
    if (!needs_result()) return finish(given);
    if (is_prefix(request_)) given |= take_given();
    b_.begin_phase(1);
    const node n = writing(reading(take_payload(), buffer::mailbox, message_), buffer::scratch, told_);
    builder::step_list take;
    take.then(at_stage(told_runs, of_blocks(n, blocks::members)));
    return finish(given | b_.loop(range::leader, 1, take));
  }

  std::uint32_t count(const range& over) { return over.count(b_.draft(), g_); }

  // All parts are in what a member has then, as in reductions.cpp.
  plan finish(node_set told) {
    b_.begin_phase(0);
    modes_.leave(needs_result() ? told | make_result(told) : 0);
    return b_.finish();
  }

  const request& request_;
  const topology& g_;
  builder b_;
  sync_modes modes_;
  doubling pairs_;
  std::uint8_t given_by_peer_ = 0, given_ = 0, known_ = 0, came_ = 0, told_ = 0, own_ = 0, message_ = 0;
};

} // namespace

plan compile_combined_reduction(const request& r, const topology& g, const tuning&) {
  return combined_plan(r, g).make();
}

bool fits_combined_reduction(const request& r, const topology& g, const tuning& t) {
  if (g.one_host() || (rooted(r.op) && r.in != sync::all)) return false;
  if (r.bytes == 0 || r.by_ranges || (r.whole && !of_vectors(r.op)) || r.other_order) return false;
  const std::uint64_t message = runs_of_message(r, g) * bytes_of_run(r.bytes);
  const std::uint64_t published = is_prefix(r) ? message : bytes_of_run(r.bytes);
  if (g.largest_host() > 1 && published > engine::mailbox::body_bytes) return false;
  return message <= payload_from(static_cast<std::uint64_t>(doubling(g.hosts()).rounds) + 1, t);
}

std::uint64_t cost_of_combined_reduction(const request& r, const topology& g, const tuning& t) {
  const cost_model c(t.costs);
  const doubling d(g.hosts());
  const std::uint64_t rounds = static_cast<std::uint64_t>(d.rounds) + (d.pairs == 0 ? 0 : 2);
  const std::uint64_t message = runs_of_message(r, g) * bytes_of_run(r.bytes);
  const std::uint64_t heard = (is_prefix(r) ? 2 : 1) * std::uint64_t{g.largest_host()};
  constexpr std::uint64_t of_a_stage = 5; // copies that take as long as a stage of the task
  return rounds * (c.message() + c.wire(1, message)) + c.copies(heard + 1, bytes_of_run(r.bytes)) +
         c.copies(of_a_stage * (rounds + 4), message);
}

} // namespace weft::collectives
