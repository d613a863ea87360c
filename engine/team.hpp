// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/memory/mailbox.hpp"
#include "engine/topology/topology.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace weft::engine {

// A team as one member sees it: which ranks are in it, and where each rank's mailbox is. Its mailboxes lie at
// the same offset of every member's segment.
struct team_info {
  std::uint32_t id = 0;
  std::vector<std::uint32_t> world; // rank in the job of every member
  graph::topology topology;
  std::uint64_t mailbox_offset = 0;

  std::uint32_t me() const { return topology.me(); }
  std::uint32_t size() const { return topology.size(); }
  // The member that is this rank of the job; size() if it is none.
  std::uint32_t member(std::uint32_t rank) const {
    if (rank < world.size() && world[rank] == rank) return rank;
    return static_cast<std::uint32_t>(std::find(world.begin(), world.end(), rank) - world.begin());
  }
};

} // namespace weft::engine
