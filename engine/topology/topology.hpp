// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::graph {

// Who the members of a team are, as one of them sees it: all that a compiler of plans may know of a team.
// Every number is a team rank. Members on the caller's host are "near" (their memory is reachable by loads
// and stores), the others are "far". Both lists are rotated to begin behind the caller, so that the k-th
// peer of every member is a different one.
class topology {
public:
  // Memory that it takes for each member; besides, a word for each host and each member of the caller's.
  static constexpr std::size_t bytes_of_member = 6 * sizeof(std::uint32_t);

  topology() = default;
  // host[r] is the host of team rank r.
  topology(std::uint32_t me, std::vector<std::uint32_t> host);

  std::uint32_t me() const { return me_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(host_.size()); }
  bool is_near(std::uint32_t peer) const { return host_[peer] == host_[me_]; }
  bool last_of_host() const { return local_.back() == me_; }
  bool one_host() const { return far_.empty(); }

  const std::vector<std::uint32_t>& near() const { return near_; } // without the caller
  const std::vector<std::uint32_t>& far() const { return far_; }

  // A swap between two members of different hosts is made by one of them, each by about half of its own.
  static bool leads(std::uint32_t a, std::uint32_t b) { return (a < b) == ((a + b) % 2 == 0); }
  const std::vector<std::uint32_t>& initiated() const { return initiated_; } // far members whose swap is mine
  const std::vector<std::uint32_t>& initiators() const { return initiators_; } // far members that make mine

  // The largest number of members that any host holds, and the smallest: the same for all members.
  std::uint32_t largest_host() const { return largest_host_; }
  std::uint32_t smallest_host() const { return smallest_host_; }
  bool one_on_each_host() const { return largest_host_ == 1 && !one_host(); }

  // Position of a member among the members of its host, in team rank order.
  std::uint32_t local_index(std::uint32_t peer) const { return local_index_[peer]; }
  std::uint32_t locals() const { return static_cast<std::uint32_t>(near_.size()) + 1; }
  // The k-th member of the caller's host in team rank order, the caller included.
  std::uint32_t local(std::uint32_t k) const { return local_[k]; }

  // The number of a near member among those that read what a writer publishes for each of them; 0 for a far
  // one that is sent its own.
  std::uint32_t reader_index(std::uint32_t reader, std::uint32_t writer) const {
    if (host_[reader] != host_[writer] || reader == writer) return 0;
    return local_index_[reader] - (local_index_[reader] > local_index_[writer] ? 1 : 0);
  }

  // The hosts, in the order of their lowest members, and the members host by host.
  std::uint32_t hosts() const { return static_cast<std::uint32_t>(first_.size()) - 1; }
  std::uint32_t host(std::uint32_t peer) const { return index_[peer]; }
  std::uint32_t first(std::uint32_t host) const { return first_[host]; } // in host order
  std::uint32_t members(std::uint32_t host) const { return first_[host + 1] - first_[host]; }
  std::uint32_t in_host_order(std::uint32_t k) const { return by_host_[k]; }
  bool ranks_follow_hosts() const; // host after host
  bool equal_hosts() const { return hosts() * largest_host_ == size(); }
  // The member with the caller's number on that host, if it has so many.
  std::uint32_t twin(std::uint32_t host) const { return by_host_[first_[host] + local_index_[me_]]; }

private:
  void number_hosts();
  std::uint32_t me_ = 0;
  std::uint32_t largest_host_ = 1, smallest_host_ = 1;
  std::vector<std::uint32_t> host_;
  std::vector<std::uint32_t> local_index_;
  std::vector<std::uint32_t> local_;
  std::vector<std::uint32_t> near_;
  std::vector<std::uint32_t> far_;
  std::vector<std::uint32_t> initiated_, initiators_;
  std::vector<std::uint32_t> index_, first_{0}, by_host_;
};

// Whose blocks travel in a round of a dissemination, and of a doubling (a hypercube).

// How many rounds a dissemination over so many has: in round k each rank hears of 2^k more.
std::uint32_t dissemination_rounds(std::uint32_t members);

// The same with any radix: in round k each rank hears of radix^k more from each of radix - 1 others. A step
// is one message of a member: to the rank that is `distance` away, a digit of the radix times its weight.
struct round_step {
  std::uint32_t weight = 1, digit = 1;
  std::uint32_t distance() const { return weight * digit; }
};
round_step round_step_of(std::uint32_t step, std::uint32_t radix);
std::uint32_t dissemination_steps(std::uint32_t members, std::uint32_t radix);

// Members in host order: `count` of them from `begin`, cyclically.
struct member_run {
  std::uint32_t begin = 0, count = 0;
};
// Whose blocks the leader of a host sends in a step of the dissemination over hosts: those of as many hosts
// as it knew before this round, its own first, but none that the receiver has.
member_run sent_in_step(const topology& g, std::uint32_t host, round_step step);

// A doubling over any number of hosts. The first hosts make pairs, so that what is left is a power of two of
// places, each of one host or of a pair, in the order of the hosts. Of a pair the first one acts.
struct doubling {
  explicit doubling(std::uint32_t hosts)
      : places(std::bit_floor(hosts)), pairs(hosts - places), rounds(std::countr_zero(places)) {}

  bool paired(std::uint32_t host) const { return host < 2 * pairs; }
  bool acts(std::uint32_t host) const { return !paired(host) || host % 2 == 0; }
  std::uint32_t place(std::uint32_t host) const { return paired(host) ? host / 2 : host - pairs; }
  // The first host of a place; behind the last one, the number of hosts.
  std::uint32_t first(std::uint32_t place) const { return place < pairs ? 2 * place : place + pairs; }
  // The place whose number differs in this bit.
  std::uint32_t partner(std::uint32_t host, std::uint32_t round) const {
    return first(place(host) ^ (std::uint32_t{1} << round));
  }

  // In which round a host sends what has come to it until then, if all of it goes to one host: to its
  // partner. The other's own place receives in all rounds.
  std::uint32_t leaves(std::uint32_t host, std::uint32_t to) const {
    return static_cast<std::uint32_t>(std::min(rounds, std::countr_zero(place(host) ^ place(to))));
  }

  std::uint32_t places, pairs;
  int rounds;
};

// The members of the 2^round places whose numbers differ from this one's in lower bits only: in this round of
// a doubling they are one half, and its partner's are the other.
member_run half_in_round(const topology& g, std::uint32_t host, std::uint32_t round);
// Whether all halves are consecutive team ranks, so that their blocks lie side by side.
bool in_rank_order(const topology& g);

// How many of the distances from 1 to members - 1 have the step's digit: what travels so far does so in this
// step.
std::uint32_t travelling(std::uint32_t members, std::uint32_t radix, round_step step);
// These distances, in their order.
template <class Visit>
void each_travelling(std::uint32_t members, std::uint32_t radix, round_step step, Visit&& visit) {
  const std::uint64_t turn = std::uint64_t{step.weight} * radix;
  for (std::uint64_t run = step.distance(); run < members; run += turn)
    for (std::uint64_t d = run; d < std::min<std::uint64_t>(run + step.weight, members); ++d)
      visit(static_cast<std::uint32_t>(d));
}

} // namespace weft::graph

// The k-nomial tree over 0 .. size-1: a vertex's parent is what is left without its lowest digit in base k,
// so that no vertex has more than (k-1)*ceil(log_k size) children and none is deeper than ceil(log_k size).
namespace weft::graph::tree {

std::uint32_t parent(std::uint32_t vertex, std::uint32_t radix);
std::uint32_t children(std::uint32_t vertex, std::uint32_t size, std::uint32_t radix);
// Largest subtrees first.
std::uint32_t child(std::uint32_t vertex, std::uint32_t size, std::uint32_t radix, std::uint32_t number);
std::uint32_t depth(std::uint32_t size, std::uint32_t radix);

} // namespace weft::graph::tree

namespace weft::graph {

// The member that acts for a host between hosts: the root on its own, the first on every other.
std::uint32_t leader_of(const topology& g, std::uint32_t root, std::uint32_t host);

// Which rank sends a payload of the root to which, when engines hand it on: a k-nomial tree over the hosts,
// counted from the root's. The leader of a host sends to all members of the hosts below its own, so between
// two members of one host nothing is sent; the root's own neighbours read its mailbox.
class relay_tree {
public:
  relay_tree(const topology& g, std::uint32_t root, std::uint32_t radix)
      : g_(g), root_(root), radix_(radix) {}

  // How many a member sends to, and which; those with the most hosts below them first.
  std::uint32_t below(std::uint32_t member) const;
  std::uint32_t child(std::uint32_t member, std::uint32_t number) const;
  // The rank that sends to a member of another host than the root's.
  std::uint32_t above(std::uint32_t member) const;

private:
  std::uint32_t vertex(std::uint32_t member) const {
    return (g_.host(member) + g_.hosts() - g_.host(root_)) % g_.hosts();
  }
  std::uint32_t host_at(std::uint32_t vertex) const { return (vertex + g_.host(root_)) % g_.hosts(); }

  const topology& g_;
  std::uint32_t root_, radix_;
};

// Two hosts have one pair of members that lead between them, one on each. The members of a host take turns:
// which one leads depends on how far ahead the other host is. So each leads for its share, and both ends
// agree.

// Of a host towards another one; the one of pair k, where two hosts have several (see pairing).
inline std::uint32_t leader_towards(const topology& g, std::uint32_t host, std::uint32_t other,
                                    std::uint32_t k = 0, std::uint32_t pairs = 1) {
  const std::uint32_t distance = (other + g.hosts() - host) % g.hosts();
  return g.in_host_order(g.first(host) + ((distance - 1) * pairs + k) % g.members(host));
}

// The number of the other host among those to which that member leads.
inline std::uint32_t number_of_pair(const topology& g, std::uint32_t host, std::uint32_t other) {
  const std::uint32_t distance = (other + g.hosts() - host) % g.hosts();
  return (distance - 1) / g.members(host);
}
// How many pairs any member leads at most: one on the smallest host.
inline std::uint32_t most_led(const topology& g, std::uint32_t pairs = 1) {
  return g.one_host() ? 0 : ((g.hosts() - 1) * pairs - 1) / g.smallest_host() + 1;
}

// The same with several pairs of members between two hosts, as many as the smallest host has members at most:
// so no two members are two pairs. Those of a host, other host by other host, are dealt out to its members in
// turn. A pair carries the blocks of a share of the sender's host.
struct pairing {
  const topology& g;
  std::uint32_t pairs;

  // How many pairs a member leads.
  std::uint32_t led(std::uint32_t member) const {
    const std::uint32_t all = (g.hosts() - 1) * pairs, first = g.local_index(member);
    return first < all ? (all - 1 - first) / g.members(g.host(member)) + 1 : 0;
  }
  // The number of the k-th that I lead, among all of my host.
  std::uint32_t of_mine(std::uint32_t k) const { return g.local_index(g.me()) + k * g.locals(); }
  std::uint32_t other_host(std::uint32_t pair) const {
    return (g.host(g.me()) + 1 + pair / pairs) % g.hosts();
  }
  // At the other end of one of mine.
  std::uint32_t twin(std::uint32_t pair) const {
    return leader_towards(g, other_host(pair), g.host(g.me()), pair % pairs, pairs);
  }
  // The members of a host whose blocks a pair carries away from it.
  member_run share(std::uint32_t host, std::uint32_t pair) const {
    const std::uint32_t members = g.members(host), number = pair % pairs;
    const std::uint32_t begin = number * members / pairs;
    return {begin, (number + 1) * members / pairs - begin};
  }
  // Calls visit(pair) for each that I lead; `k` counts.
  template <class Visit> void each_led(std::uint32_t& k, Visit&& visit) const {
    const std::uint32_t all = led(g.me());
    for (k = 0; k < all; ++k)
      visit(of_mine(k));
  }
};

} // namespace weft::graph
