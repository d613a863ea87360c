// SPDX-License-Identifier: BSD-3-Clause
#include "engine/topology/topology.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace weft::graph {

topology::topology(std::uint32_t me, std::vector<std::uint32_t> host) : me_(me), host_(std::move(host)) {
  std::unordered_map<std::uint32_t, std::uint32_t> members;
  local_index_.reserve(host_.size());
  for (std::uint32_t r = 0; r < size(); ++r) {
    local_index_.push_back(members[host_[r]]++);
    if (is_near(r)) local_.push_back(r);
  }
  if (!members.empty()) smallest_host_ = size();
  for (auto [node_id, count] : members) {
    largest_host_ = std::max(largest_host_, count);
    smallest_host_ = std::min(smallest_host_, count);
  }
  near_.reserve(local_.size());
  far_.reserve(size() - local_.size());
  for (std::uint32_t k = 1; k < size(); ++k) {
    const std::uint32_t peer = (me_ + k) % size();
    (is_near(peer) ? near_ : far_).push_back(peer);
    if (!is_near(peer)) (leads(me_, peer) ? initiated_ : initiators_).push_back(peer);
  }
  initiated_.shrink_to_fit();
  initiators_.shrink_to_fit();
  number_hosts();
}

void topology::number_hosts() {
  std::unordered_map<std::uint32_t, std::uint32_t> number;
  index_.reserve(size());
  for (const std::uint32_t id : host_)
    index_.push_back(number.try_emplace(id, static_cast<std::uint32_t>(number.size())).first->second);
  first_.assign(number.size() + 1, 0);
  for (const std::uint32_t n : index_)
    ++first_[n + 1];
  for (std::size_t n = 1; n < first_.size(); ++n)
    first_[n] += first_[n - 1];
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  by_host_.resize(size());
  for (std::uint32_t r = 0; r < size(); ++r)
    by_host_[next[index_[r]]++] = r;
}

bool topology::ranks_follow_hosts() const {
  return std::is_sorted(by_host_.begin(), by_host_.end());
}

std::uint32_t dissemination_rounds(std::uint32_t members) {
  return members <= 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(members - 1));
}

round_step round_step_of(std::uint32_t step, std::uint32_t radix) {
  round_step at{1, step % (radix - 1) + 1};
  for (std::uint32_t round = step / (radix - 1); round != 0; --round)
    at.weight *= radix;
  return at;
}

std::uint32_t dissemination_steps(std::uint32_t members, std::uint32_t radix) {
  std::uint32_t steps = 0;
  for (std::uint64_t weight = 1; weight < members; weight *= radix)
    steps += static_cast<std::uint32_t>(std::min<std::uint64_t>(radix - 1, (members - 1) / weight));
  return steps;
}

member_run sent_in_step(const topology& g, std::uint32_t host, round_step step) {
  const std::uint32_t hosts = g.hosts();
  const std::uint32_t known = std::min(step.weight, hosts - step.distance());
  member_run run{g.first(host), 0};
  for (std::uint32_t k = 0; k < known; ++k)
    run.count += g.members((host + k) % hosts);
  return run;
}

member_run half_in_round(const topology& g, std::uint32_t host, std::uint32_t round) {
  const doubling d(g.hosts());
  const std::uint32_t first = d.place(host) >> round << round;
  const std::uint32_t begin = g.first(d.first(first));
  return {begin, g.first(d.first(first + (std::uint32_t{1} << round))) - begin};
}

bool in_rank_order(const topology& g) {
  for (std::uint32_t k = 0; k < g.size(); ++k)
    if (g.in_host_order(k) != k) return false;
  return true;
}

std::uint32_t travelling(std::uint32_t members, std::uint32_t radix, round_step step) {
  const std::uint64_t turn = std::uint64_t{step.weight} * radix, rest = members % turn;
  const std::uint64_t begun = rest > step.distance() ? rest - step.distance() : 0;
  return static_cast<std::uint32_t>(members / turn * step.weight +
                                    std::min<std::uint64_t>(begun, step.weight));
}

} // namespace weft::graph

namespace weft::graph::tree {

namespace {
// The place value of a vertex's lowest digit; for 0 the first power that is not below the size.
std::uint64_t lowest(std::uint32_t vertex, std::uint32_t size, std::uint32_t radix) {
  std::uint64_t weight = 1;
  while (vertex == 0 ? weight < size : vertex % (weight * radix) == 0)
    weight *= radix;
  return weight;
}
} // namespace

std::uint32_t parent(std::uint32_t vertex, std::uint32_t radix) {
  return vertex - static_cast<std::uint32_t>(vertex % (lowest(vertex, 0, radix) * radix));
}

std::uint32_t children(std::uint32_t vertex, std::uint32_t size, std::uint32_t radix) {
  std::uint32_t count = 0;
  for (std::uint64_t weight = lowest(vertex, size, radix) / radix; weight != 0; weight /= radix) {
    const std::uint64_t room = (size - 1 - vertex) / weight;
    count += static_cast<std::uint32_t>(std::min<std::uint64_t>(radix - 1, room));
  }
  return count;
}

std::uint32_t child(std::uint32_t vertex, std::uint32_t size, std::uint32_t radix, std::uint32_t number) {
  for (std::uint64_t weight = lowest(vertex, size, radix) / radix; weight != 0; weight /= radix) {
    const auto here =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(radix - 1, (size - 1 - vertex) / weight));
    if (number < here) return vertex + static_cast<std::uint32_t>((number + 1) * weight);
    number -= here;
  }
  return vertex;
}

std::uint32_t depth(std::uint32_t size, std::uint32_t radix) {
  std::uint32_t levels = 0;
  for (std::uint64_t reach = 1; reach < size; reach *= radix)
    ++levels;
  return levels;
}

} // namespace weft::graph::tree

namespace weft::graph {

std::uint32_t leader_of(const topology& g, std::uint32_t root, std::uint32_t host) {
  return host == g.host(root) ? root : g.in_host_order(g.first(host));
}

std::uint32_t relay_tree::below(std::uint32_t member) const {
  if (leader_of(g_, root_, g_.host(member)) != member) return 0;
  const std::uint32_t here = vertex(member), hosts = tree::children(here, g_.hosts(), radix_);
  std::uint32_t members = 0;
  for (std::uint32_t k = 0; k < hosts; ++k)
    members += g_.members(host_at(tree::child(here, g_.hosts(), radix_, k)));
  return members;
}

std::uint32_t relay_tree::child(std::uint32_t member, std::uint32_t number) const {
  const std::uint32_t here = vertex(member);
  for (std::uint32_t k = 0;; ++k) {
    const std::uint32_t host = host_at(tree::child(here, g_.hosts(), radix_, k));
    if (number < g_.members(host)) return g_.in_host_order(g_.first(host) + number);
    number -= g_.members(host);
  }
}

std::uint32_t relay_tree::above(std::uint32_t member) const {
  return leader_of(g_, root_, host_at(tree::parent(vertex(member), radix_)));
}

} // namespace weft::graph
