// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Which rank lives on which (virtual) node: contiguous blocks, as even as possible, larger ones first.

#include <cstdint>
#include <string>

namespace weft::boot {

class rank_layout {
public:
  // One node bears the host's own name; several bear that name and their number.
  rank_layout(std::uint32_t ranks, std::uint32_t nodes, std::string host_name);

  std::uint32_t ranks() const { return ranks_; }
  std::uint32_t nodes() const { return nodes_; }
  std::uint32_t first_rank(std::uint32_t node) const;
  std::uint32_t size_of(std::uint32_t node) const { return first_rank(node + 1) - first_rank(node); }
  std::uint32_t node_of(std::uint32_t rank) const;
  std::string host(std::uint32_t node) const;

  // "0,1,2" for the ranks of one node.
  std::string rank_list(std::uint32_t node) const;
  // "host-0,host-1": the input of PMIx_generate_regex.
  std::string node_map() const;
  // "0,1;2,3": the input of PMIx_generate_ppn.
  std::string process_map() const;

private:
  std::uint32_t ranks_;
  std::uint32_t nodes_;
  std::string host_name_;
};

} // namespace weft::boot
