// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/relocate.hpp"
#include "progress/control/member_channels.hpp"
#include "progress/control/own_channels.hpp"
#include "progress/control/team_calls.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace weft::control {

// FNV-1a, a word at a time: lists that differ are told apart.
inline std::uint64_t digest(std::span<const std::uint32_t> ranks) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::uint32_t rank : ranks)
    hash = (hash ^ rank) * 0x100000001b3;
  return hash;
}

// The teams that this rank is a member of.
//
// Creation is collective over a parent. Every member offers {color, key}, or a digest of the list that all
// give; two gather-alls of 16 bytes over the parent tell each rank that is in which team, and what the first
// member of each got from rank 0: the offset of the team's mailbox in every member's segment, and a number
// that no other team of the run has. Each member clears its mailbox before a third one, of the rank that has
// got so far, so no rank can touch a mailbox that is not ready, and no message of the new team can come
// before its receiver knows the team.
//
// Freeing returns at once; what becomes of the memory then is in team_memory.hpp.
template <transport::transport T> class team_registry final : public team_calls {
public:
  using engine_type = progress::engine<T>;

  // `nodes` by rank of the job. The team of all has its scratch elsewhere than other teams.
  team_registry(engine_type& engine, heap_service<T>& heap, std::vector<std::uint32_t> nodes,
                progress::channel& all_ranks, std::uint64_t scratch_of_all)
      : engine_(engine), memory_(engine, heap), own_(engine, heap, memory_, all_ranks),
        others_channels_(engine, heap, memory_, all_ranks), nodes_(std::move(nodes)), all_(&all_ranks) {
    teams_.emplace(all, entry{all_, scratch_of_all});
    engine_.serve([this, &heap](const transport::message& m, std::span<const std::byte> payload) {
      if (const auto asked = decoded(payload, heap.end()); asked && m.source < engine_.net().size())
        std::visit([&](const auto& r) { hand_to(heap, m.source, r); }, *asked);
    });
  }

  // What serves the requests that are neither of teams nor of the heap; under progress ownership.
  using server = std::function<void(std::uint32_t from, const request&)>;
  void serve_others_by(server s) { others_ = std::move(s); }

  std::uint32_t size(team t) const override {
    if (t == all) return all_->info.size();
    const entry e = at(t);
    return e.state == nullptr ? 0 : e.state->info.size();
  }
  std::uint32_t rank(team t) const override { return state(t).info.me(); }
  std::uint32_t thread(team t, std::uint32_t member) const override { return state(t).info.world[member]; }
  std::uint32_t member(team t, std::uint32_t rank) const override { return state(t).info.member(rank); }
  // Where its memory begins, in every member's segment.
  std::uint64_t place(team t) const { return state(t).info.mailbox_offset; }

  team split(team parent, int color, int key) override {
    return split_as(parent, color, key, collectives::caller::split);
  }

  std::optional<team> make(team parent, std::span<const std::uint32_t> ranks) override {
    making m(at(parent), collectives::caller::from_threads);
    const auto count = static_cast<std::uint32_t>(ranks.size());
    const wish mine{digest(ranks), count, memory_.some_returns()};
    const std::vector<wish> wishes = gather(m, mine);
    const auto alike = [&](const wish& w) { return w.group == mine.group && w.order == mine.order; };
    std::vector<std::uint32_t> order;
    m.attempt([&] {
      if (!std::ranges::all_of(wishes, alike))
        throw progress::operation_error("two threads gave different lists of threads: give the same on all");
      for (const std::uint32_t rank : ranks)
        order.push_back(m.parent.state->info.member(rank));
    });
    return create(m, order, some_return(wishes));
  }

  std::optional<team> make(std::uint32_t me, std::uint32_t members, const gathering& brought) override {
    making m(brought, me, members);
    const std::vector<wish> wishes = gather(m, wish{engine_.net().rank(), 0, memory_.some_returns()});
    std::vector<std::uint32_t> order(members);
    m.attempt([&] {
      for (std::uint32_t k = 0; k != members; ++k)
        m.world.push_back(static_cast<std::uint32_t>(wishes[order[k] = k].group));
      std::vector<std::uint32_t> once = m.world;
      std::ranges::sort(once);
      if (std::ranges::adjacent_find(once) != once.end() || once.back() >= engine_.net().size())
        throw progress::operation_error("the exchange does not give each thread's own value once");
    });
    return create(m, order, some_return(wishes));
  }

  // Once, when the job begins: the ranks of each host, in rank order.
  void make_node_team(std::uint32_t node) {
    if (split_as(all, static_cast<int>(node), 0, collectives::caller::init) == 0) throw std::bad_alloc();
  }

  void free(team t) override {
    progress::channel* const gone = at(t).state;
    forget(t);
    engine_.with_ownership([&] { memory_.leave(*gone); });
  }

  handle post(team t, const collectives::request& r, const graph::binding& where) override {
    return post(t, r, where, {});
  }
  handle post(team t, const collectives::request& r, const graph::binding& where,
              const progress::barrier_summary& value, progress::barrier_summary* heard = nullptr) {
    return issued(is_own(t) ? own_.post(index(t), r, where)
                            : engine_.post(channel_of(t), r, where, value, heard));
  }
  handle post(team t, std::span<const collectives::bound_request> series) override {
    return issued(engine_.post(channel_of(t), series));
  }
  void run(team t, const collectives::request& r, const graph::binding& where) override {
    if (is_own(t)) [[unlikely]]
      return own_.run(index(t), r, where);
    engine_.run(channel_of(t), r, where);
  }
  bool touches_own(team t, const collectives::request& r) override {
    return collectives::touches_own(r, state(t).info.topology, engine_.options().tuning);
  }
  std::uint64_t piece_of_series(team t, const collectives::request& r) override {
    return collectives::piece_of_series(r, state(t).info.topology, engine_.options().tuning);
  }
  std::uint64_t longest_along(team t) override {
    return collectives::longest_along(state(t).info.topology, engine_.options().tuning);
  }
  collectives::in_messages longest_in_messages(team t) override {
    return collectives::longest_in_messages(state(t).info.topology, engine_.options().tuning);
  }
  team own_channel(std::span<const std::uint32_t> ranks) override {
    const auto which = own_.open(ranks);
    return which ? own | *which : 0;
  }
  const mailbox_grant& place_of_own(team t) const { return own_.place(index(t)); }

  void await_all_entered(team t, handle h) override { engine_.await_all_entered(channel_of(t), h); }

  progress::channel& channel_of(team t) {
    if (t == all) [[likely]]
      return *all_;
    return *at(t).state;
  }

  // The rank is dead, and heap_service knows it. Any thread; before the engine hears of it.
  void lose(std::uint32_t rank) {
    engine_.with_ownership([&] {
      own_.lose(rank);
      others_channels_.lose(rank);
    });
  }

  // The job is over. Under progress ownership.
  void abandon() {
    memory_.abandon();
    others_channels_.abandon();
  }

private:
  struct entry {
    progress::channel* state = nullptr;
    std::uint64_t scratch = 0;
  };
  // What members tell each other when a team is made, 16 bytes each.
  struct wish {
    std::uint64_t group = 0;       // a color, or a digest of the list
    std::uint32_t order = 0;       // a key, or the length of the list
    std::uint32_t some_return = 0; // memory of teams that the member has left is on its way back
  };
  enum class ending : std::uint64_t { failed, went_well, no_memory };
  struct outcome {
    ending how = ending::failed;
    std::uint64_t unused = 0;
  };
  // A team on its way. The members of the parent count its operations, so any rank that a step fails for
  // takes the others even so, says in the last one that it has failed, and reports it then. Where that was
  // for want of memory, all members of the new team are told that there is no room for it.
  struct making {
    making(const entry& of, collectives::caller c)
        : parent(of), by(c), world(of.state->info.world), me(of.state->info.me()) {}
    // Without a parent: the world is heard of first.
    making(const gathering& b, std::uint32_t m, std::uint32_t count)
        : by(collectives::caller::from_threads), me(m), members(count), brought(&b) {
      world.reserve(count);
    }

    entry parent;
    collectives::caller by;
    std::vector<std::uint32_t> world; // rank in the job by member
    std::uint32_t me;
    std::uint32_t members = static_cast<std::uint32_t>(world.size());
    const gathering* brought = nullptr; // the members' own exchange, in the place of the parent's operations
    std::exception_ptr failed = nullptr;
    bool no_memory = false; // that is why

    // True if the work is done.
    template <class Work> bool go(Work&& work) {
      try {
        work();
        return true;
      } catch (const progress::operation_error&) {
        if (!failed) failed = std::current_exception();
        return false;
      }
    }
    // What no other member waits for, unless a step has failed already.
    template <class Work> void attempt(Work&& work) {
      if (failed) return;
      try {
        go(work);
      } catch (const std::bad_alloc&) {
        failed = std::current_exception();
        no_memory = true;
      }
    }
    ending how() const {
      if (!failed) return ending::went_well;
      return no_memory ? ending::no_memory : ending::failed;
    }
  };

  template <class Request> void hand_to(heap_service<T>& heap, std::uint32_t from, const Request& r) {
    if constexpr (std::is_same_v<Request, left>)
      memory_.on_request(from, r);
    else if constexpr (own_channels<T>::template serves<Request>)
      own_.on_request(from, r);
    else if constexpr (member_channels<T>::template serves<Request>)
      others_channels_.on_request(from, r);
    else if constexpr (requires { heap.on_request(from, r); })
      heap.on_request(from, r);
    else if (others_)
      others_(from, r);
  }

  entry at(team t) const {
    const std::shared_lock lock(lock_);
    const auto found = teams_.find(t);
    return found == teams_.end() ? entry{} : found->second;
  }
  handle issued(handle h) const {
    if (h == 0) [[unlikely]]
      throw progress::operation_error("too many operations are outstanding, WEFT_MAX_OPERATIONS is " +
                                      std::to_string(engine_.options().operations_cap) +
                                      ": complete some first, or raise it");
    return h;
  }
  progress::channel& state(team t) const { return t == all ? *all_ : *at(t).state; }
  static bool is_own(team t) { return (t & own) != 0; }
  static std::uint32_t index(team t) { return static_cast<std::uint32_t>(t & ~own); }
  // A team that is freed, or that no rank has used or will.
  void forget(team t) {
    const std::unique_lock lock(lock_);
    teams_.erase(t);
  }

  static bool some_return(const std::vector<wish>& wishes) {
    return std::ranges::any_of(wishes, [](const wish& w) { return w.some_return != 0; });
  }

  // A gather-all of 16 bytes through the parent's scratch: mine behind each rank's. No rank's, if it fails.
  template <class Said> std::vector<Said> gather(making& m, const Said& mine) {
    static_assert(sizeof(Said) == 16 && std::is_trivially_copyable_v<Said>);
    std::vector<Said> every(m.members); // before anything has begun, so this may throw
    if (m.brought != nullptr) {
      if (!m.go([&] { (*m.brought)(std::as_bytes(std::span(&mine, 1)), every.data()); }))
        every.assign(m.members, Said{});
      return every;
    }
    std::byte* scratch = engine_.net().segment() + m.parent.scratch;
    const std::uint64_t own = sizeof mine * m.members;
    std::memcpy(scratch + own, &mine, sizeof mine);
    collectives::request r;
    r.op = collectives::operation::gather_all;
    r.in = r.out = graph::sync::my;
    r.bytes = sizeof mine;
    r.by = m.by;
    if (m.go([&] {
          engine_.run(*m.parent.state, r, {.dst = m.parent.scratch, .src = m.parent.scratch + own});
        }))
      std::memcpy(every.data(), scratch, own);
    return every;
  }

  // The same behind another one, so that the others wait for it.
  template <class Said> std::vector<Said> gather_on(making& m, const Said& mine) {
    return engine::until_there_is_memory("a team", [&] { return gather(m, mine); });
  }

  team split_as(team parent, int color, int key, collectives::caller by) {
    making m(at(parent), by);
    const auto word = [](int value) { return static_cast<std::uint32_t>(value); };
    const std::vector<wish> wishes = gather(m, wish{word(color), word(key), memory_.some_returns()});
    std::vector<std::uint32_t> order; // ranks of the parent, by key
    m.attempt([&] {
      for (std::uint32_t r = 0; r < wishes.size(); ++r)
        if (wishes[r].group == word(color)) order.push_back(r);
      const auto key_of = [&](std::uint32_t r) { return static_cast<std::int32_t>(wishes[r].order); };
      std::ranges::stable_sort(order, {}, key_of);
    });
    return create(m, order, some_return(wishes)).value_or(0);
  }

  // Collective over the parent, each member with the ranks of the team that it hears of: its own, or one that
  // it is not in, for which it gets 0.
  std::optional<team> create(making& m, const std::vector<std::uint32_t>& order, bool some_return) {
    const bool member = std::ranges::find(order, m.me) != order.end();
    std::optional<engine::team_info> info;
    mailbox_grant grant;
    m.attempt([&] {
      info.emplace();
      for (const std::uint32_t r : order)
        info->world.push_back(m.world[r]);
      if (member) info->topology = topology_of(info->world);
      if (order.front() == m.me) grant = memory_.take(info->topology, some_return);
    });
    const std::vector<mailbox_grant> grants = gather_on(m, grant);
    const mailbox_grant agreed = m.failed ? mailbox_grant{} : grants[order.front()];

    std::optional<team> made;
    m.attempt([&] {
      if (agreed.offset != 0)
        made = member ? enter(std::move(*info), agreed, m.by == collectives::caller::init) : 0;
    });
    const bool all_know = m.failed != nullptr; // if the next step goes well for them
    const std::vector<outcome> ends = gather_on(m, outcome{.how = m.how()});
    const auto ended = [&](ending how) {
      return [&ends, how](std::uint32_t r) { return ends[r].how == how; };
    };
    const auto missing = std::ranges::find_if_not(order, ended(ending::went_well));
    if (m.failed && !all_know && made.value_or(0) != 0) free(*made); // others may have it
    if (m.failed && !all_know) std::rethrow_exception(m.failed);
    if (missing == order.end() && !m.failed) return made;

    if (made.value_or(0) != 0) forget(*made);
    if (grant.offset != 0) engine_.with_ownership([&] { memory_.give_back(grant.offset); });
    if (m.how() == ending::no_memory) return std::nullopt;
    if (m.failed) std::rethrow_exception(m.failed);
    const auto why = std::ranges::find_if(order, ended(ending::failed));
    if (why == order.end()) return std::nullopt; // one has no memory
    throw progress::operation_error("thread " + std::to_string(m.world[*why]) +
                                    " failed while the team was made; none of its threads has it");
  }

  graph::topology topology_of(const std::vector<std::uint32_t>& members) const {
    std::vector<std::uint32_t> nodes;
    for (const std::uint32_t rank : members)
      nodes.push_back(nodes_[rank]);
    const auto me = std::ranges::find(members, engine_.net().rank()) - members.begin();
    return {static_cast<std::uint32_t>(me), std::move(nodes)};
  }

  // The new team is known here from now on; the first member got `granted`, the mailbox's offset and the
  // number.
  team enter(engine::team_info info, const mailbox_grant& granted, bool of_node) {
    info.mailbox_offset = granted.offset;
    info.id = static_cast<std::uint32_t>(granted.number);
    entry fresh;
    engine_.with_ownership([&] { fresh.state = &memory_.move_in(std::move(info)); });
    fresh.scratch = team_memory<T>::scratch(*fresh.state);
    const team made = of_node ? node : granted.number + 1;
    const std::unique_lock lock(lock_);
    teams_.emplace(made, fresh);
    return made;
  }

  engine_type& engine_;
  team_memory<T> memory_;
  own_channels<T> own_;
  member_channels<T> others_channels_;
  server others_;
  const std::vector<std::uint32_t> nodes_; // by rank of the job
  progress::channel* const all_;           // the team that most calls use, found without a lock
  mutable std::shared_mutex lock_;
  std::unordered_map<team, entry> teams_; // by the team's number + 1
};

} // namespace weft::control
