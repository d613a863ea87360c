#pragma once
#include "progress/control/team_memory.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace weft::control {

// Channels of single ranks. On a team's channel every member posts every operation; on a rank's own it alone
// posts, and the engines of all others begin their part when they hear of it, whatever their applications are
// about. All ranks of the job are its members.
//
// Opening, with the first call. The caller gets from rank 0 a place for one more mailbox in every segment and
// a number, as for a team, and asks each other rank to open it. That one clears its mailbox, knows the
// channel from then on, and says so. Nothing begins before all have: so nobody touches a mailbox that is not
// ready. The channel lives as long as the job.
//
// Calling. When an operation begins on the caller's channel, each other rank is sent what the caller has
// posted. It begins the operations in the order of their numbers, however the requests come: they may come
// twice, or one before the other. From then on they are operations like all: with their modes, credit and
// failures; only that nobody but the caller waits for them.
//
// Requests are served under progress ownership.
template <transport::transport T> class own_channels {
public:
  using engine_type = progress::engine<T>;
  template <class Request>
  static constexpr bool serves =
      std::is_same_v<Request, open_channel> || std::is_same_v<Request, opened> ||
      std::is_same_v<Request, begin_part> || std::is_same_v<Request, begin_reduction>;

  own_channels(engine_type& engine, heap_service<T>& heap, team_memory<T>& memory,
               const progress::channel& all)
      : engine_(engine), heap_(heap), memory_(memory), all_(all) {
    engine_.ask_others_by([this](const progress::posted& op) {
      const begin_part part(op.channel->info.id, op.seq, op.key, op.at);
      if (op.at.task == nullptr) return tell_others(part);
      const auto& task = static_cast<const reductions::reduction&>(*op.at.task);
      tell_others(begin_reduction{part, reductions::describe(task), op.key.large});
    });
  }

  // This rank's, open. Any thread.
  progress::channel& mine() {
    const std::lock_guard lock(opening_);
    if (mine_ == nullptr) mine_ = &open();
    return *mine_;
  }

  void on_request(std::uint32_t from, const open_channel& r) {
    const auto number = static_cast<std::uint32_t>(r.channel);
    if (!memory_.has_room_at(r.mailbox, all_.info.topology)) return;
    if (const auto known = calling_.find(number); known == calling_.end())
      calling_.try_emplace(number, &memory_.move_in(info_of({r.mailbox, number})), from);
    else if (known->second.caller != from)
      return;
    if (!heap_.send(from, opened{r.channel})) engine::end_out_of_memory("an answer to another rank");
  }

  void on_request(std::uint32_t from, const opened& r) {
    if (r.channel != number_ || closed_.empty() || !closed_[from]) return;
    closed_[from] = false;
    still_closed_.fetch_sub(1, std::memory_order_release);
  }

  void on_request(std::uint32_t from, const begin_part& r) {
    called(from, r, {r.request(), r.where(), std::nullopt});
  }
  void on_request(std::uint32_t from, const begin_reduction& r) {
    if (r.task.threads != all_.info.size()) return;
    call it{r.part.request(), r.part.where(), reductions::described(r.task)};
    it.what.by_ranges = it.task->by_ranges;
    it.what.large = r.large != 0;
    called(from, r.part, it);
  }

private:
  // What another rank has called, for my part of it.
  struct call {
    collectives::request what;
    graph::binding where;
    std::optional<reductions::reduction> task;
  };
  // Of one caller.
  struct calls {
    calls(progress::channel* c, std::uint32_t rank) : on(c), caller(rank) {}
    progress::channel* on;
    std::uint32_t caller;
    engine::sequence next = 1;
    std::map<engine::sequence, call> early; // those that came before their turn
  };

  void called(std::uint32_t from, const begin_part& r, const call& what) {
    const auto known = calling_.find(static_cast<std::uint32_t>(r.channel));
    if (known == calling_.end() || known->second.caller != from || r.root >= all_.info.size()) return;
    calls& of = known->second;
    if (r.number >= of.next) of.early.try_emplace(r.number, what);
    for (auto it = of.early.begin(); it != of.early.end() && it->first == of.next; ++of.next) {
      call& next = it->second;
      if (next.task) next.where.task = &*next.task;
      engine_.begin_part(*of.on, next.what, next.where);
      it = of.early.erase(it);
    }
  }

  template <class Request> void tell_others(const Request& r) {
    each_other([&](std::uint32_t rank) {
      if (!heap_.send(rank, r)) engine::end_out_of_memory("a request to another rank");
    });
  }

  template <class Visit> void each_other(Visit&& visit) const {
    for (std::uint32_t rank = 0; rank < all_.info.size(); ++rank)
      if (rank != all_.info.me()) visit(rank);
  }

  engine::team_info info_of(const mailbox_grant& place) const {
    engine::team_info info = all_.info;
    info.id = static_cast<std::uint32_t>(place.number);
    info.mailbox_offset = place.offset;
    return info;
  }

  progress::channel& open() {
    const mailbox_grant place = memory_.take(all_.info.topology, memory_.some_returns());
    if (place.offset == 0)
      throw progress::operation_error("there is no room for a channel of this thread's own: free some teams");
    progress::channel* made = nullptr;
    engine_.with_ownership([&] {
      made = &memory_.move_in(info_of(place));
      made->is_mine = true;
      number_ = place.number;
      closed_.assign(all_.info.size(), true);
      still_closed_.store(all_.info.size() - 1, std::memory_order_relaxed);
      each_other([&](std::uint32_t rank) {
        if (!heap_.send(rank, open_channel{place.number, place.offset})) throw std::bad_alloc();
      });
    });
    std::uint32_t lost = 0;
    const auto somebody_is_lost = [&] {
      for (lost = 0; lost < all_.info.size(); ++lost)
        if (heap_.lost(lost)) return true;
      return false;
    };
    const auto all_open = [&] { return still_closed_.load(std::memory_order_acquire) == 0; };
    engine_.drive_until([&] { return all_open() || somebody_is_lost(); });
    if (!all_open())
      throw progress::operation_error("thread " + std::to_string(lost) +
                                      " has died: nothing can be begun on all threads any more");
    return *made;
  }

  engine_type& engine_;
  heap_service<T>& heap_;
  team_memory<T>& memory_;
  const progress::channel& all_;
  std::mutex opening_; // mine_
  progress::channel* mine_ = nullptr;
  // Under progress ownership:
  std::uint64_t number_ = 0;                         // of mine
  std::vector<bool> closed_;                         // by rank: it has not said that it has opened mine
  std::atomic<std::uint32_t> still_closed_{0};       // how many; read by the one who waits
  std::unordered_map<std::uint32_t, calls> calling_; // by number
};

} // namespace weft::control
