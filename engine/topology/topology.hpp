// SPDX-License-Identifier: BSD-3-Clause
#pragma once
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
  bool one_host() const { return far_.empty(); }

  const std::vector<std::uint32_t>& near() const { return near_; } // without the caller
  const std::vector<std::uint32_t>& far() const { return far_; }

  // A swap between two members of different hosts is made by one of them, each by about half of its own.
  static bool leads(std::uint32_t a, std::uint32_t b) { return (a < b) == ((a + b) % 2 == 0); }
  const std::vector<std::uint32_t>& initiated() const { return initiated_; } // far members whose swap is mine
  const std::vector<std::uint32_t>& initiators() const { return initiators_; } // far members that make mine

  // The largest number of members that any host holds: the same for all members.
  std::uint32_t largest_host() const { return largest_host_; }

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
  std::uint32_t largest_host_ = 1;
  std::vector<std::uint32_t> host_;
  std::vector<std::uint32_t> local_index_;
  std::vector<std::uint32_t> local_;
  std::vector<std::uint32_t> near_;
  std::vector<std::uint32_t> far_;
  std::vector<std::uint32_t> initiated_, initiators_;
  std::vector<std::uint32_t> index_, first_{0}, by_host_;
};

} // namespace weft::graph
