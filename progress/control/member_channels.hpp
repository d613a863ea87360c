// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/team.hpp"
#include "progress/control/heap.hpp"
#include "progress/control/team_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <type_traits>
#include <unordered_map>
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

// The member's side of channels of single ranks (own_channels.hpp is the caller's): opens them, and begins
// this rank's part of what is called on them, whatever its application is about.
//
//   open_channel   once the whole list is there: a cleared mailbox, the channel, and `opened`. Once more if
//   it
//                  comes again.
//   begin_...      the operations begin in the order of their numbers, however the requests come: they may
//                  come twice, or one before the other
//   part_done      to a caller that is no member, by the first member, when its part is over: such operations
//                  are OUT_ALL, so everything is in place on all members then, or all have heard that it
//                  failed
//
// Requests are served under progress ownership.
template <transport::transport T> class member_channels {
public:
  using engine_type = progress::engine<T>;
  template <class Request>
  static constexpr bool serves =
      std::is_same_v<Request, open_channel> || std::is_same_v<Request, begin_part> ||
      std::is_same_v<Request, begin_reduction>;

  member_channels(engine_type& engine, heap_service<T>& heap, team_memory<T>& memory,
                  const progress::channel& all)
      : engine_(engine), heap_(heap), memory_(memory), all_(all) {
    engine_.when_part_ended([this](const progress::posted& op) { part_ended(op); });
  }

  void on_request(std::uint32_t from, const open_channel& r) {
    const auto number = static_cast<std::uint32_t>(r.channel);
    const auto known = calling_.find(number);
    if (known != calling_.end() && known->second.caller != from) return;
    if (known == calling_.end()) {
      const std::optional<member_list> members = whole(from, r);
      if (!members || !move_in(from, *members, {r.mailbox, number})) return;
    }
    if (!heap_.send(from, opened{r.channel})) engine::end_out_of_memory("an answer to another rank");
  }
  void on_request(std::uint32_t from, const begin_part& r) {
    called(from, r, {r.request(), r.where(), std::nullopt});
  }
  void on_request(std::uint32_t from, const begin_reduction& r) {
    const calls* const of = calls_of(from, r.part);
    if (of == nullptr || r.task.threads != of->on->info.size()) return;
    call it{r.part.request(), r.part.where(), reductions::described(r.task)};
    it.what.by_ranges = it.task->by_ranges;
    it.what.other_order = it.task->begins_elsewhere();
    it.what.large = r.large != 0;
    called(from, r.part, it);
  }

  // A dead rank calls no more, and a rank that has not heard of its last calls never will.
  void lose(std::uint32_t rank) {
    for (auto& [number, of] : calling_)
      if (of.caller == rank) engine_.works().lose(*of.on, rank);
  }
  // The job is over: nothing begins any more.
  void abandon() { over_ = true; }

private:
  // What another rank has called, for my part of it.
  struct call {
    collectives::request what;
    graph::binding where;
    std::optional<reductions::reduction> task;
  };
  // Of one channel.
  struct calls {
    calls(progress::channel* c, std::uint32_t rank) : on(c), caller(rank) {}
    progress::channel* on;
    std::uint32_t caller;
    engine::sequence next = 1;
    std::map<engine::sequence, call> early; // those that came before their turn
  };

  // A rank opens one at a time; what is late belongs to one that it has opened, or given up, before.
  std::optional<member_list> whole(std::uint32_t from, const open_channel& r) {
    if (r.members == 0) return member_list();
    if (r.members > all_.info.size()) return std::nullopt;
    arriving_list& list = arriving_[from];
    if (list.channel() > r.channel) return std::nullopt;
    if (list.channel() < r.channel) list = arriving_list(r.channel, r.members);
    if (!list.take(r) || !list.is_right(all_.info.size(), all_.info.me())) return std::nullopt;
    return list.ranks();
  }
  bool move_in(std::uint32_t caller, const member_list& members, const mailbox_grant& place) {
    engine::team_info info = channel_of(all_.info, members, all_.info.me(), place);
    if (over_ || !memory_.has_room_at(place.offset, info.topology)) return false;
    calling_.try_emplace(info.id, &memory_.move_in(std::move(info)), caller);
    return true;
  }

  calls* calls_of(std::uint32_t from, const begin_part& r) {
    const auto known = calling_.find(static_cast<std::uint32_t>(r.channel));
    const bool right =
        known != calling_.end() && known->second.caller == from && r.root < known->second.on->info.size();
    return right && !over_ ? &known->second : nullptr;
  }
  void called(std::uint32_t from, const begin_part& r, const call& what) {
    calls* const known = calls_of(from, r);
    if (known == nullptr) return;
    calls& of = *known;
    if (r.number >= of.next) of.early.try_emplace(r.number, what);
    for (auto it = of.early.begin(); it != of.early.end() && it->first == of.next; ++of.next) {
      call& next = it->second;
      if (next.task) next.where.task = &*next.task;
      engine_.begin_part(*of.on, next.what, next.where);
      it = of.early.erase(it);
    }
  }

  void part_ended(const progress::posted& op) {
    const progress::channel& on = *op.channel;
    const std::uint32_t caller = calling_.at(on.info.id).caller;
    if (on.info.me() != 0 || on.info.member(caller) != on.info.size()) return;
    const std::uint32_t lost = on.lost == progress::channel::no_rank ? 0 : on.lost + 1;
    if (!heap_.send(caller, part_done{on.info.id, op.seq, op.status, op.unreachable, op.told_by, lost}))
      engine::end_out_of_memory("an answer to another rank");
  }

  engine_type& engine_;
  heap_service<T>& heap_;
  team_memory<T>& memory_;
  const progress::channel& all_;
  bool over_ = false;
  std::unordered_map<std::uint32_t, calls> calling_;          // by number of the channel
  std::unordered_map<std::uint32_t, arriving_list> arriving_; // by caller
};

} // namespace weft::control
