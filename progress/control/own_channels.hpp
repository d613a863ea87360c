// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/control/member_channels.hpp"
#include "progress/control/requests.hpp"
#include "progress/control/team_memory.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace weft::control {

// Channels of single ranks. On a team's channel every member posts every operation; on a rank's own it alone
// calls, and the engines of the members begin their part when they hear of it, whatever their applications
// are about (member_channels.hpp). A rank has one for all ranks of the job, and one for each other list of
// ranks that it has called for, whether it is among them or not; so many as there is room for, and not more
// than `most`: for others it must carry the data itself.
//
// Opening, with the first call. The caller gets from rank 0 a place for one more mailbox in every segment and
// a number, as for a team, and tells each other member that the members are. That one clears its mailbox,
// knows the channel from then on, and says so. Nothing begins before all have: so no rank touches a mailbox
// that is not ready. The channel lives as long as the job.
//
// Calling. A caller that is a member posts the operation like any other; when it begins, each other member is
// sent what was posted. One that is no member draws the number and sends it to all of them. From then on they
// are operations like all: with their modes, credit and failures; only that no rank but the caller waits for
// them. A caller without a part of its own hears the end from the first member, for which the operation is
// OUT_ALL; it answers for its calls itself when a member has died.
//
// Channels are opened under a lock, and found by their number after that; what is called on them, and
// requests, are under progress ownership.
template <transport::transport T> class own_channels {
public:
  using engine_type = progress::engine<T>;
  using handle = typename engine_type::handle;
  using request = collectives::request;
  template <class Request>
  static constexpr bool serves = std::is_same_v<Request, opened> || std::is_same_v<Request, part_done>;
  static constexpr std::uint32_t most = 16;

  own_channels(engine_type& engine, heap_service<T>& heap, team_memory<T>& memory,
               const progress::channel& all)
      : engine_(engine), heap_(heap), memory_(memory), all_(all) {
    engine_.ask_others_by([this](const progress::posted& op) {
      tell(op.channel->info.world, op.channel->info.id, op.seq, op.key, op.at);
    });
  }

  // Which of them has these members; none are all ranks. Opens it if need be. Nothing: there is no room for
  // another one. Any thread.
  std::optional<std::uint32_t> open(std::span<const std::uint32_t> ranks) {
    const std::lock_guard lock(opening_);
    std::uint32_t k = 0; // of all
    if (!ranks.empty())
      for (k = 1; k != used_ && !std::ranges::equal(channels_[k].ranks, ranks);)
        ++k;
    if (k == most) return std::nullopt;
    if (channels_[k].place.number == 0 && !open(channels_[k], {ranks.begin(), ranks.end()}))
      return std::nullopt;
    used_ = std::max(used_, k + 1);
    return k;
  }

  // On one of those that `open` has returned. As engine::post and engine::run.
  handle post(std::uint32_t which, const request& r, const graph::binding& at) {
    own_channel& c = channels_[which];
    if (c.part != nullptr) return engine_.post(*c.part, r, at);
    handle h = 0;
    engine_.with_ownership([&] {
      h = engine_.promise();
      if (h != 0) call(c, r, at, {h, nullptr});
    });
    return h;
  }
  void run(std::uint32_t which, const request& r, const graph::binding& at) {
    own_channel& c = channels_[which];
    if (c.part != nullptr) return engine_.run(*c.part, r, at);
    waiting mine;
    engine_.with_ownership([&] { call(c, r, at, {0, &mine}); });
    engine_.drive_until([&] { return mine.over.load(std::memory_order_acquire); });
    if (mine.failed) std::rethrow_exception(mine.failed);
  }
  // Its mailbox, and its number among all channels of the job.
  const mailbox_grant& place(std::uint32_t which) const { return channels_[which].place; }

  void on_request(std::uint32_t from, const opened& r) {
    if (r.channel != opening_number_ || closed_.empty() || !closed_[from]) return;
    closed_[from] = false;
    still_closed_.fetch_sub(1, std::memory_order_release);
    engine_.wake();
  }
  // No rank waits any more for one that comes twice.
  void on_request(std::uint32_t from, const part_done& r) {
    for (own_channel& c : channels_)
      if (c.place.number == r.channel && c.part == nullptr && !c.ranks.empty() && c.ranks.front() == from)
        return end(c, r.number, error_in(r));
  }

  // The rank is dead, and heap_service knows it: what has no part here does not hear it from the engine.
  void lose(std::uint32_t rank) {
    for (own_channel& c : channels_)
      if (std::ranges::find(c.ranks, rank) != c.ranks.end())
        while (!c.under_way.empty())
          end(c, c.under_way.begin()->first, progress::member_lost(rank, heap_.fate_of(rank)));
  }

private:
  // A blocking call that has no part. `failed` is written before `over` (release), and read behind it.
  struct waiting {
    std::exception_ptr failed;
    std::atomic<bool> over{false};
  };
  struct called {
    handle promised; // 0: a rank waits
    waiting* waits;
  };
  // Begun, and not yet known to be over: the first member says so.
  struct begun final : progress::awaited_answer {
    begun(const called& c, std::uint32_t peer) : it(c), first(peer) {}
    std::string text() const override { return answer_of(first, "a collective that this thread has called"); }
    called it;
    std::uint32_t first;
  };
  struct own_channel {
    member_list ranks;
    mailbox_grant place;               // number 0: not open
    progress::channel* part = nullptr; // this rank's, if it is a member
    // If it is none:
    engine::sequence calls = 0;
    std::map<engine::sequence, begun> under_way;
  };

  // Under progress ownership; from here on it is told with the call's end what went wrong. The first member
  // ends its part when everything is in place: that makes its answer that of all.
  void call(own_channel& c, request r, const graph::binding& at, const called& it) {
    r.out = graph::sync::all;
    const engine::sequence n = ++c.calls;
    engine::must_have_memory("a call", [&] {
      engine_.works().answers().add(c.under_way.try_emplace(n, it, c.ranks[0]).first->second);
    });
    if (const auto dead = lost_of(c.ranks))
      return end(c, n, progress::member_lost(*dead, heap_.fate_of(*dead)));
    tell(c.ranks, c.place.number, n, r, at);
  }
  void end(own_channel& c, engine::sequence n, std::exception_ptr failed) {
    const auto found = c.under_way.find(n);
    if (found == c.under_way.end()) return;
    const called it = found->second.it;
    engine_.works().answers().remove(found->second);
    c.under_way.erase(found);
    if (it.promised != 0) {
      engine_.keep(it.promised, std::move(failed));
    } else {
      it.waits->failed = std::move(failed);
      it.waits->over.store(true, std::memory_order_release); // the last touch
    }
    engine_.wake();
  }
  static std::exception_ptr error_in(const part_done& r) {
    if (r.status >= 0) return nullptr;
    if (r.lost != 0)
      return progress::member_lost(r.lost - 1, {"has died, or another member cannot reach it"});
    return progress::unfinished(r.number, r.told_by, r.unreachable, T::explain(r.status));
  }

  void tell(const member_list& ranks, std::uint64_t channel, engine::sequence n, const request& r,
            const graph::binding& at) {
    const begin_part part(channel, n, r, at);
    if (at.task == nullptr) return tell(ranks, part);
    const auto& task = static_cast<const reductions::reduction&>(*at.task);
    tell(ranks, begin_reduction{part, reductions::describe(task), r.large});
  }
  template <class Request> void tell(const member_list& ranks, const Request& r) {
    for (const std::uint32_t rank : ranks)
      if (rank != all_.info.me() && !heap_.send(rank, r))
        engine::end_out_of_memory("a request to another rank");
  }

  std::optional<std::uint32_t> lost_of(const member_list& ranks) const {
    const auto dead = std::ranges::find_if(ranks, [&](std::uint32_t rank) { return heap_.lost(rank); });
    return dead == ranks.end() ? std::nullopt : std::optional(*dead);
  }
  void require_alive(const member_list& ranks) const {
    if (const auto dead = lost_of(ranks))
      std::rethrow_exception(progress::member_lost(*dead, heap_.fate_of(*dead)));
  }

  // False if there is no room.
  bool open(own_channel& c, member_list list) {
    const member_list& members = list.empty() ? all_.info.world : list;
    const std::uint32_t me = all_.info.me();
    const bool takes_part = std::ranges::find(members, me) != members.end();
    require_alive(members);
    const mailbox_grant place =
        memory_.take_for_channel(channel_of(all_.info, list, members.front()).topology);
    if (place.offset == 0) return false;
    progress::channel* part = nullptr;
    engine_.with_ownership([&] {
      if (takes_part) {
        part = &memory_.move_in(channel_of(all_.info, list, me, place));
        part->is_mine = true;
      }
      opening_number_ = place.number;
      closed_.assign(all_.info.size(), false);
      for (const std::uint32_t rank : members)
        closed_[rank] = rank != me;
      still_closed_.store(static_cast<std::uint32_t>(members.size() - takes_part), std::memory_order_relaxed);
      tell_members(members, list, place);
    });
    const auto all_open = [&] { return still_closed_.load(std::memory_order_acquire) == 0; };
    engine_.drive_until([&] { return all_open() || lost_of(members); });
    if (!all_open()) require_alive(members);
    engine_.with_ownership([&] {
      c.place = place;
      c.part = part;
      c.ranks = std::move(list);
    });
    return true;
  }
  // In pieces, where it is not all of the job.
  void tell_members(const member_list& members, const member_list& list, const mailbox_grant& place) {
    open_channel r{place.number, place.offset, static_cast<std::uint32_t>(list.size()), 0, {}};
    do {
      std::copy_n(list.begin() + r.first, r.in_piece(), r.ranks.begin());
      for (const std::uint32_t rank : members)
        if (rank != all_.info.me() && !heap_.send(rank, r)) throw std::bad_alloc();
      r.first += open_channel::piece;
    } while (r.first < r.members);
  }

  engine_type& engine_;
  heap_service<T>& heap_;
  team_memory<T>& memory_;
  const progress::channel& all_;
  std::mutex opening_;
  std::uint32_t used_ = 1;                 // under the lock: the first is that of all ranks
  std::array<own_channel, most> channels_; // opened, and never closed
  // Of the one that is being opened, under progress ownership:
  std::uint64_t opening_number_ = 0;
  std::vector<bool> closed_;                   // by rank: it has not said that it has opened it
  std::atomic<std::uint32_t> still_closed_{0}; // how many; read by the one that waits
};

} // namespace weft::control
