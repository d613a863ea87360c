// SPDX-License-Identifier: BSD-3-Clause
#include "engine/topology/topology.hpp"

#include <algorithm>
#include <unordered_map>

namespace weft::graph {

topology::topology(std::uint32_t me, std::vector<std::uint32_t> host) : me_(me), host_(std::move(host)) {
  std::unordered_map<std::uint32_t, std::uint32_t> members;
  local_index_.reserve(host_.size());
  for (std::uint32_t r = 0; r < size(); ++r) {
    local_index_.push_back(members[host_[r]]++);
    if (is_near(r)) local_.push_back(r);
  }
  for (auto [node_id, count] : members)
    largest_host_ = std::max(largest_host_, count);
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

} // namespace weft::graph
