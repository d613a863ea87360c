// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/team.hpp"
#include "progress/control/heap.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace weft::control {

// Which ranks take part in what one rank calls: these ranks of the job, in this order; none are all of them.
using member_list = std::vector<std::uint32_t>;

// Of a list of different ranks: their channel as `rank`, one of them, sees it.
inline engine::team_info channel_of(const engine::team_info& all, const member_list& list, std::uint32_t rank,
                                    const mailbox_grant& place = {}) {
  engine::team_info info = all;
  if (!list.empty()) {
    std::vector<std::uint32_t> hosts;
    for (const std::uint32_t member : list)
      hosts.push_back(all.topology.host(member));
    const auto me = static_cast<std::uint32_t>(std::ranges::find(list, rank) - list.begin());
    info.world = list;
    info.topology = graph::topology(me, std::move(hosts));
  }
  info.id = static_cast<std::uint32_t>(place.number);
  info.mailbox_offset = place.offset;
  return info;
}

// All pieces of a list, as they come.
class arriving_list {
public:
  arriving_list() = default;
  arriving_list(std::uint64_t channel, std::uint32_t members)
      : channel_(channel), ranks_(members),
        heard_((members + open_channel::piece - 1) / open_channel::piece) {}

  std::uint64_t channel() const { return channel_; }
  // True when it is whole.
  bool take(const open_channel& piece) {
    if (piece.members != ranks_.size()) return false;
    heard_[piece.first / open_channel::piece] = true;
    std::copy_n(piece.ranks.begin(), piece.in_piece(), ranks_.begin() + piece.first);
    return std::ranges::find(heard_, false) == heard_.end();
  }
  // Different ranks of a job of so many, this one among them.
  bool is_right(std::uint32_t size, std::uint32_t rank) const {
    std::vector<bool> seen(size);
    for (const std::uint32_t member : ranks_) {
      if (member >= size || seen[member]) return false;
      seen[member] = true;
    }
    return seen[rank];
  }
  const member_list& ranks() const { return ranks_; }

private:
  std::uint64_t channel_ = 0;
  member_list ranks_;
  std::vector<bool> heard_; // by piece
};

} // namespace weft::control
