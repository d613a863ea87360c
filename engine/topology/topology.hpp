#pragma once
#include <cstdint>
#include <vector>

namespace weft::graph {

// Who the members of a team are, as one of them sees it: all that a compiler of plans may know of a team.
// Every number is a team rank. Members on the caller's node are "near" (their memory is reachable by loads
// and stores), the others are "far". Both lists are rotated to begin behind the caller, so that the k-th
// peer of every member is a different one.
class topology {
public:
  topology() = default;
  // node[r] is the node of team rank r.
  topology(std::uint32_t me, std::vector<std::uint32_t> node);

  std::uint32_t me() const { return me_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(node_.size()); }
  bool is_near(std::uint32_t peer) const { return node_[peer] == node_[me_]; }
  bool one_node() const { return far_.empty(); }

  const std::vector<std::uint32_t>& near() const { return near_; } // without the caller
  const std::vector<std::uint32_t>& far() const { return far_; }

  // A swap between two members of different nodes is made by one of them, each by about half of its own.
  static bool leads(std::uint32_t a, std::uint32_t b) { return (a < b) == ((a + b) % 2 == 0); }
  const std::vector<std::uint32_t>& initiated() const { return initiated_; } // far members whose swap is mine
  const std::vector<std::uint32_t>& initiators() const { return initiators_; } // far members who make mine

  // The largest number of members that any node holds: the same for all members.
  std::uint32_t largest_node() const { return largest_node_; }

  // Position of a member among the members of its node, in team rank order.
  std::uint32_t local_index(std::uint32_t peer) const { return local_index_[peer]; }
  std::uint32_t locals() const { return static_cast<std::uint32_t>(near_.size()) + 1; }
  // The k-th member of the caller's node in team rank order, the caller included.
  std::uint32_t local(std::uint32_t k) const { return local_[k]; }

  // The number of a near member among those who read what a writer publishes for each of them; 0 for a far
  // one, who is sent its own.
  std::uint32_t reader_index(std::uint32_t reader, std::uint32_t writer) const {
    if (node_[reader] != node_[writer] || reader == writer) return 0;
    return local_index_[reader] - (local_index_[reader] > local_index_[writer] ? 1 : 0);
  }

  // The nodes, in the order of their lowest members, and the members node by node.
  std::uint32_t nodes() const { return static_cast<std::uint32_t>(first_.size()) - 1; }
  std::uint32_t node(std::uint32_t peer) const { return index_[peer]; }
  std::uint32_t first(std::uint32_t node) const { return first_[node]; } // in node order
  std::uint32_t members(std::uint32_t node) const { return first_[node + 1] - first_[node]; }
  std::uint32_t in_node_order(std::uint32_t k) const { return by_node_[k]; }

private:
  void number_nodes();
  std::uint32_t me_ = 0;
  std::uint32_t largest_node_ = 1;
  std::vector<std::uint32_t> node_;
  std::vector<std::uint32_t> local_index_;
  std::vector<std::uint32_t> local_;
  std::vector<std::uint32_t> near_;
  std::vector<std::uint32_t> far_;
  std::vector<std::uint32_t> initiated_, initiators_;
  std::vector<std::uint32_t> index_, first_{0}, by_node_;
};

} // namespace weft::graph
