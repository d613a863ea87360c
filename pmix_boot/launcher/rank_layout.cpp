// SPDX-License-Identifier: BSD-3-Clause
#include "pmix_boot/launcher/rank_layout.hpp"

#include <algorithm>
#include <utility>

namespace weft::boot {

rank_layout::rank_layout(std::uint32_t ranks, std::uint32_t nodes, std::string host_name)
    : ranks_(ranks), nodes_(nodes), host_name_(std::move(host_name)) {}

std::uint32_t rank_layout::first_rank(std::uint32_t node) const {
  return node * (ranks_ / nodes_) + std::min(node, ranks_ % nodes_);
}

std::uint32_t rank_layout::node_of(std::uint32_t rank) const {
  std::uint32_t node = 0;
  while (rank >= first_rank(node + 1))
    ++node;
  return node;
}

std::string rank_layout::host(std::uint32_t node) const {
  return nodes_ == 1 ? host_name_ : host_name_ + "-" + std::to_string(node);
}

std::string rank_layout::rank_list(std::uint32_t node) const {
  std::string list;
  for (std::uint32_t rank = first_rank(node); rank < first_rank(node + 1); ++rank)
    list.append(list.empty() ? "" : ",").append(std::to_string(rank));
  return list;
}

std::string rank_layout::node_map() const {
  std::string map;
  for (std::uint32_t node = 0; node < nodes_; ++node)
    map.append(node == 0 ? "" : ",").append(host(node));
  return map;
}

std::string rank_layout::process_map() const {
  std::string map;
  for (std::uint32_t node = 0; node < nodes_; ++node)
    map.append(node == 0 ? "" : ";").append(rank_list(node));
  return map;
}

} // namespace weft::boot
