// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/plan.hpp"
#include "engine/topology/topology.hpp"

#include <string_view>

namespace weft::graph {

// One member of each host acts for it between hosts, the leader: the root on its own host, the first member
// on every other. Nodes are numbered in the order of their first members; in trees they are counted from the
// root's.
std::uint32_t leader_of(const plan& p, const topology& g, std::uint32_t node);
inline bool leads(const plan& p, const topology& g) {
  return leader_of(p, g, g.host(p.me)) == p.me;
}

inline constexpr std::uint32_t found_by_rows = ~std::uint32_t{0};

// The peers of a loop: the most iterations of it, and the peer of each, found_by_rows where a row names it.
// Those here are of several algorithms, or the engine knows them. An algorithm that needs others defines them
// in its own file.
struct range {
  std::string_view name;
  std::uint32_t (*count)(const plan& p, const topology& g);
  std::uint32_t (*peer)(const plan& p, const topology& g, peer_rule rule, std::uint32_t step);
  bool in_rounds = false; // a step has two peers: the one ahead, and the one behind
  bool by_rows = false;   // a row in shared memory names the peer
  lane only = lane::any;  // all its peers are of this lane

  static const range root;         // the root alone
  static const range near;         // other members on my host
  static const range far;          // members on other hosts
  static const range others;       // all other members
  static const range far_but_root; // members on other hosts, without the root
  static const range earlier;      // the members in front of me, the next one first
  static const range far_later;    // members behind me, on other hosts
  static const range hosts;        // of each other host the member that leads to mine
  static const range named;        // the member that my own row names, if it names one
  static const range naming;       // the member whose row names me, as soon as it is found

  static const range leader;        // my host's leader
  static const range next;          // the leader of the next host, once for each iteration
  static const range follow;        // my host's leader, once for each iteration
  static const range leader_rounds; // rounds 0 .. ceil(log2 hosts) - 1, between leaders
  static const range host_rounds; // the steps of a dissemination over the hosts, between leaders: plan::radix
  static const range partners;    // in round k of a doubling the leader of the place that differs in bit k
};

// The numbers of two members, or hosts, that are `distance` apart in a cycle of `size`.
constexpr std::uint32_t in_cycle(std::uint32_t at, std::uint32_t size, bool ahead, std::uint32_t distance) {
  return (ahead ? at + distance : at + size - distance) % size;
}
// My own host.
inline std::uint32_t own_host(const plan& p, const topology& g) {
  return g.host(p.me);
}

// The peer of a step of a loop. Asked at every step: what is looked up most often is so here.
[[gnu::always_inline]] inline std::uint32_t peer_at(const plan& p, const topology& g, const range* over,
                                                    peer_rule rule, std::uint32_t step) {
  if (over == &range::near) return g.near()[step];
  if (over == &range::root) return p.root;
  return over->peer(p, g, rule, step);
}

// A node at one step: what it is about. The executor carries it out, the verifier interprets it; neither
// reads an operand itself.
struct action {
  std::uint32_t me = 0;           // the rank that does it
  std::uint32_t peer = 0;         // with which rank
  std::uint32_t from = 0, to = 0; // whose memory is read, and whose is written
  std::uint32_t step = 0;
};

[[gnu::always_inline]] inline action resolve(const plan& p, flow way, std::uint32_t peer,
                                             std::uint32_t step) {
  const std::uint32_t me = p.me;
  return {me, peer, way == flow::in ? peer : me, way == flow::out ? peer : me, step};
}

// Which of the slices of a payload is mine: far members are sent theirs alone, or all of their host's.
[[gnu::always_inline]] inline std::uint32_t slice_of(const plan& p, const topology& g, const node& n,
                                                     const action& a) {
  if (n.read.in != buffer::mailbox || p.places[n.read.at].turn == 0) return 0;
  if (n.bundled) [[unlikely]]
    return g.local_index(a.me);
  return g.reader_index(a.me, a.peer);
}

// Told of each of several things; what it is told by is not a template.
template <class What> class visitor {
public:
  template <class Visit>
  explicit visitor(Visit& visit)
      : visit_(const_cast<void*>(static_cast<const void*>(&visit))),
        call_([](void* v, What what) { (*static_cast<Visit*>(v))(what); }) {}
  void operator()(What what) const { call_(visit_, what); }

private:
  void* visit_;
  void (*call_)(void*, What);
};

using block_visitor = visitor<const coordinates&>;

// The blocks that a node moves at one step, if that is not the one between its two ends. Those here are of
// several algorithms, or the engine knows them. An algorithm that needs others defines them in its own file.
struct blocks {
  std::string_view name;
  void (*each)(const plan& p, const topology& g, const action& a, block_visitor visit);
  bool packed = false;     // of a round: they travel together in one message
  bool one_a_step = false; // a single block in each step

  static const blocks readers; // one for each other member on my host
  static const blocks members; // those of all members
  static const blocks earlier; // those of the members up to me
  static const blocks of_host; // those of all members of the host that is written to
  static const blocks to_host; // of the member that is read, to all members of the host that is written to
  static const blocks known;   // dissemination: of the hosts that the sender knows and the receiver does not
  static const blocks half;    // doubling: of the 2^step places that share all higher bits with my host's
  static const blocks other_half; // of the 2^step places that share them with my host's partner
};

// Blocks of these members, in this order.
void each_of_run(const topology& g, const action& a, member_run of, block_visitor visit);
// Where a selection of blocks begins to count.
constexpr coordinates coordinates_of(const action& a) {
  return {a.from, a.to, a.step, 0, 0};
}

// The coordinates of all blocks that a node moves at one step.
void each_block(const plan& p, const topology& g, const node& n, const action& a, block_visitor visit);
// What it moves, block by block: from where in the buffer that it reads to where in the one that it writes.
void each_move(const plan& p, const topology& g, const node& n, const action& a,
               visitor<const region&> visit);
// The same in as few regions as may be: what follows each other in both places is one.
void each_joined(const plan& p, const topology& g, const node& n, const action& a,
                 visitor<const region&> visit);

[[gnu::always_inline]] inline region region_at(const plan& p, const node& n, const coordinates& c) {
  return {p.places[n.read.at].offset(c), p.places[n.write.at].offset(c), length_of(p, n, c)};
}

// One for each other member of my host, in a row.
template <class Visit> void each_reader(const topology& g, const action& a, Visit&& visit) {
  coordinates c = coordinates_of(a);
  for (std::uint32_t k = 0; k < g.locals(); ++k) {
    c.to = g.local(k);
    if (c.to == a.me) continue;
    visit(c);
    ++c.turn;
  }
}

// The only region of a node that moves one block.
region region_of_step(const plan& p, const topology& g, const node& n, const action& a);
[[gnu::always_inline]] inline region only_region(const plan& p, const topology& g, const node& n,
                                                 const action& a) {
  if (n.settled != 0) [[likely]]
    return p.settled[n.settled - 1u].moved;
  if (!p.steady) [[unlikely]]
    return region_of_step(p, g, n, a);
  const place &read = p.places[n.read.at], &write = p.places[n.write.at];
  const std::uint64_t to = write.offset(a.from, a.to);
  if (n.read.in != buffer::mailbox) return {read.offset(a.from, a.to), to, read.bytes};
  return {read.offset(a.from, a.to) + slice_of(p, g, n, a) * read.turn, to, write.bytes};
}

// One for each other member of my host.
template <class Visit>
[[gnu::always_inline]] inline void each_readers_region(const plan& p, const topology& g, const node& n,
                                                       const action& a, Visit&& visit) {
  const place &read = p.places[n.read.at], &write = p.places[n.write.at];
  const std::uint64_t from = read.offset(a.from, 0);
  std::uint64_t to = write.offset(a.from, 0);
  for (std::uint32_t k = 0; k < g.locals(); ++k) {
    const std::uint32_t reader = g.local(k);
    if (reader == a.me) continue;
    visit(region{from + reader * read.to, to + reader * write.to, read.bytes});
    to += write.turn;
  }
}

// The regions of a node at one step, as few as may be: what a verifier sees block by block (each_move), with
// what is most often asked for in line.
template <class Visit>
[[gnu::always_inline]] inline void each_region(const plan& p, const topology& g, const node& n,
                                               const action& a, Visit&& visit) {
  if (n.settled != 0 || n.of == nullptr) [[likely]]
    return visit(only_region(p, g, n, a));
  if (n.of == &blocks::readers) return each_readers_region(p, g, n, a, visit);
  each_joined(p, g, n, a, visitor<const region&>(visit));
}

// Bytes of the eager payload of which a node takes its part.
std::uint64_t packed_bytes(const plan& p, const topology& g, const node& n, const action& a);
inline std::uint64_t payload_bytes(const plan& p, const topology& g, const node& n, const action& a) {
  const place& at = p.places[n.read.at];
  if (n.of != nullptr) [[unlikely]]
    return packed_bytes(p, g, n, a);
  return at.base + at.bytes * (at.turn != 0 && g.is_near(a.peer) ? g.locals() - 1 : 1);
}

// A word by which a member tells others how far it is: which, in whose mailbox, and what it must have come
// to. One node raises it, others await it, and all of them find it here.
struct cell {
  fact what = fact::none;
  std::uint8_t phase = 0;
  std::uint32_t owner = 0; // in whose mailbox
  std::uint32_t value = 0; // counted; or the round's number, from 1

  bool operator==(const cell&) const = default;
};

// Said once for the whole operation, not in each of its phases.
constexpr bool is_of_operation(fact f) {
  return f == fact::entry || f == fact::asked || f == fact::row || f == fact::named || f == fact::call;
}
constexpr bool is_stage(fact f) {
  return f == fact::stage_in || f == fact::stage_out;
}
constexpr bool is_counter(fact f) {
  return f == fact::delivered || f == fact::consumed;
}

// What a stage comes to when it is told to a host at once: behind all rounds.
inline constexpr std::uint32_t told_to_host = 64;
constexpr std::uint32_t stage_of(const node& n, std::uint32_t step) {
  return n.peer == peer_rule::ahead || n.peer == peer_rule::behind ? step + 1 : told_to_host;
}

// How many of what is counted step by step must have come in this one.
constexpr std::uint32_t counted_by(const node& n, std::uint32_t step) {
  return step + 1 > n.count ? step + 1 - n.count : 0;
}

// The one that a node raises, or awaits, in a step with a peer. What is counted is so in the mailbox of the
// rank that waits, all else is said in the mailbox of the rank that says it.
[[gnu::always_inline]] inline cell cell_of(const plan& p, const node& n, std::uint32_t peer,
                                           std::uint32_t step) {
  const bool raises = n.what == kind::signal;
  if (!is_counter(n.about))
    return {n.about, n.phase, raises ? p.me : peer, is_stage(n.about) ? stage_of(n, step) : 0};
  const bool mine = n.peer == peer_rule::self;
  return {n.about, n.phase, mine ? p.me : peer, n.stepwise && !raises ? counted_by(n, step) : n.count};
}

} // namespace weft::graph
