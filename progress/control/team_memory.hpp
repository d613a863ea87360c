// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/control/heap.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace weft::control {

// The memory of teams, which is the same place in every member's segment: a mailbox, and scratch behind it.
//
// A member is quiet when it has freed the team and all that it posted on it is retired here: from then on it
// touches no rank's mailbox by itself. It says so to the first member, once, whichever thread drives its
// engine then; a rank that has heard it from all gives the memory back to rank 0.
//   - A quiet member still answers those that are not: they read its mailbox, and ask it for rows and credit.
//     So it keeps its state of the team until the memory is another team's, of which it is a member too:
//     that is handed out only after all were quiet. What still arrives for the old team is dropped then.
//   - Nothing of this waits, takes part in the team's sequence of operations or in the users' number of them,
//     or is looked at again and again: a team that its last member frees late costs no rank anything.
//   - A rank that finds no memory asks again for as long as some may be on its way back.
// So many teams in turn take no more memory than those that live at once.
//
// Everything of a freed team, and of what is told about it, is under progress ownership.
template <transport::transport T> class team_memory {
public:
  using engine_type = progress::engine<T>;

  team_memory(engine_type& engine, heap_service<T>& heap) : engine_(engine), heap_(heap) {
    engine_.works().when_quiet([this](const progress::channel& team) { became_quiet(team); });
  }

  // For the first member of a team to be. Is memory of others on its way back?
  mailbox_grant take(const graph::topology& g, bool some_return) {
    using namespace std::chrono_literals;
    return heap_.take_mailbox(bytes(g), some_return ? 10s : 100ms);
  }
  // For a channel of this rank's own.
  mailbox_grant take_for_channel(const graph::topology& g) {
    return heap_.take_mailbox(bytes(g), mailbox_use::channel);
  }
  // Of a team that no rank has, or that no rank uses any more.
  void give_back(std::uint64_t mailbox) { heap_.give_mailbox_back(mailbox); }

  bool has_room_at(std::uint64_t mailbox, const graph::topology& g) const {
    return heap_.has_mailbox(mailbox, bytes(g));
  }

  static std::uint64_t scratch(const progress::channel& team) {
    return team.info.mailbox_offset + engine::mailbox_bytes(team.info.topology);
  }

  // The team is known to this rank's engine from now on.
  progress::channel& move_in(engine::team_info info) {
    const std::uint64_t begin = info.mailbox_offset, end = begin + bytes(info.topology);
    forget(begin, end);
    std::byte* const mine = engine_.net().segment() + begin;
    engine::mailbox::clear(mine, info.topology.locals());
    engine::bundle_box::clear(mine + engine::boxes_offset(info.topology), info.topology);
    const auto place = tenants_.emplace(begin, tenant{nullptr, end, std::vector<bool>(info.size())}).first;
    try {
      place->second.state = &engine_.add_channel(std::move(info));
    } catch (...) {
      tenants_.erase(place);
      throw;
    }
    return *place->second.state;
  }
  void leave(progress::channel& team) {
    if (team.info.me() == 0) returning_.fetch_add(1, std::memory_order_relaxed);
    engine_.works().leave(team);
  }

  // Is memory of a team that this rank has left, and is the first of, on its way back? Any thread.
  bool some_returns() const { return returning_.load(std::memory_order_relaxed) != 0; }
  // The job is over: nothing is said, or heard, of freed teams any more.
  void abandon() { over_ = true; }

  void on_request(std::uint32_t from, const left& news) {
    const auto found = tenants_.find(news.mailbox);
    if (over_ || found == tenants_.end() || found->second.state->info.id != news.team) return;
    const engine::team_info& team = found->second.state->info;
    std::vector<bool>& quiet = found->second.quiet;
    const std::uint32_t member = team.member(from);
    if (team.me() != 0 || member == team.size() || quiet[member]) return;
    quiet[member] = true;
    if (std::ranges::find(quiet, false) != quiet.end()) return;
    returning_.fetch_sub(1, std::memory_order_relaxed);
    give_back(news.mailbox);
  }

private:
  // Whole pages, so that a team of nearly the same size fits where another one was.
  static std::uint64_t bytes(const graph::topology& g) {
    return heap_layout::whole_pages(engine::mailbox_bytes(g) + team_scratch_bytes(g.size()));
  }

  void became_quiet(const progress::channel& team) {
    const left news{team.info.id, team.info.mailbox_offset};
    const std::uint32_t first = team.info.world.front();
    if (first == engine_.net().rank())
      on_request(first, news);
    else
      static_cast<void>(heap_.send(first, news)); // else the block is lost
  }

  // A rank that hands out memory knows that all its former users were quiet.
  void forget(std::uint64_t begin, std::uint64_t end) {
    auto at = tenants_.lower_bound(begin);
    if (at != tenants_.begin() && std::prev(at)->second.end > begin) --at;
    while (at != tenants_.end() && at->first < end) {
      engine_.remove_channel(at->second.state->info.id);
      at = tenants_.erase(at);
    }
  }

  engine_type& engine_;
  heap_service<T>& heap_;
  // By offset: of every place the last team there that this rank was a member of.
  struct tenant {
    progress::channel* state;
    std::uint64_t end;       // of its memory
    std::vector<bool> quiet; // by member, as the first one has heard
  };
  std::map<std::uint64_t, tenant> tenants_;
  std::atomic<std::uint32_t> returning_{0};
  bool over_ = false;
};

} // namespace weft::control
