// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/execution/relays.hpp"

#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace weft::progress {

// What a loss or a failure does to the operations of a rank.
//
// A loss: a rank of the job is dead, or not to be reached. Each channel that needs it breaks up: what is
// under way there fails as soon as no request of it is in flight any more, what is posted there later fails
// at once. Other channels go on. Where the lost rank still lives, the other members are told, since they may
// reach it.
//
// A failure: one request of one operation has ended with an error although its other end is not lost. That
// operation fails here, and on the other members, which are told; their later operations go on.
//
// Under progress ownership, within a sweep or outside.
template <transport::transport T> class losses {
public:
  static constexpr int team_lost = -1; // status of an operation whose channel has broken up

  // `refuse_held` ends the operations of a channel that wait for a slot.
  using refuse_handler = std::function<void(channel&)>;
  losses(reach<T>& members, const channel_map& channels, const std::vector<operation*>& active,
         relays<T>& handed_on, refuse_handler refuse_held)
      : net_(members.net), members_(members), channels_(channels), active_(active), relays_(handed_on),
        refuse_held_(std::move(refuse_held)) {}
  losses(const losses&) = delete;

  // Here alone is decided that a rank is lost.
  [[gnu::cold, gnu::noinline]] void lose(std::uint32_t rank, const fate& f) {
    if constexpr (requires { net_.abandon(rank); }) net_.abandon(rank);
    for (auto& [id, on] : channels_)
      if (on->info.member(rank) != on->info.size()) lose(*on, rank, f);
  }
  // This channel's operations need the rank, member or not.
  [[gnu::cold, gnu::noinline]] void lose(channel& on, std::uint32_t rank, const fate& f) {
    if (on.lost == channel::no_rank)
      break_up(on, rank, f);
    else if (on.lost == rank)
      on.why_lost = f; // it is known better now
    else
      return;
    if (f.lives) tell_loss(on, rank);
  }

  // A transfer of the operation failed. If its other end is lost, the transport has heard in the same breath;
  // else it is the failure of this operation alone.
  [[gnu::cold, gnu::noinline]] void look_for_loss(const operation& op) {
    if (op.channel->lost != channel::no_rank || op.status == status_disputed) return;
    if constexpr (requires { net_.lost(0u); })
      for (const std::uint32_t rank : op.channel->info.world)
        if (net_.lost(rank)) lose(rank, {"has died, or cannot be reached any more"}); // see the log for which
    if (op.channel->lost == channel::no_rank && op.told_by == net_.rank()) // else another rank has told all
      tell_failure(*op.channel, op.seq, {op.status, op.unreachable});
  }
  // Members that wait for what this rank could not hand on hear it, whether it still has the operation or
  // not.
  [[gnu::cold, gnu::noinline]] void fail_relayed(channel& on, engine::sequence n,
                                                 const transport::failure& why) {
    if constexpr (requires { net_.lost(0u); })
      if (net_.lost(why.unreachable)) return lose(why.unreachable, {});
    fail(on, n, why, net_.rank());
    tell_failure(on, n, why);
  }

  // Another member says that it has lost a rank, or failed in an operation.
  [[gnu::cold]] void hear(channel& on, const transport::message& m, std::span<const std::byte> payload) {
    transport::failure of;
    if (payload.size() != sizeof of) return;
    std::memcpy(&of, payload.data(), sizeof of);
    if (of.status >= 0) return;
    if (m.seq != all_operations) return fail(on, m.seq, of, m.source);
    on.told_lost = of.unreachable;
    on.told_lost_by = m.source;
    members_.later = true; // a message comes within a poll: the next sweep breaks the channel up
  }
  void heed_told_loss(channel& on) {
    if (on.told_lost == channel::no_rank || on.lost != channel::no_rank) return;
    break_up(on, on.told_lost, {"cannot be reached any more by thread " + std::to_string(on.told_lost_by)});
  }
  // The operation begins here: it fails if a member has said before that it failed there.
  [[gnu::cold]] void heed_told_failure(operation& op) {
    std::erase_if(op.channel->failures, [&](const channel::failure& f) {
      if (f.seq == op.seq) op.fail(f.status, f.unreachable, f.told_by);
      return f.seq == op.seq || f.seq <= op.channel->retired;
    });
  }

private:
  // In a message about a loss instead of an operation's number, which is never 0.
  static constexpr engine::sequence all_operations = 0;

  // No operation of the channel can finish any more.
  [[gnu::cold, gnu::noinline]] void break_up(channel& on, std::uint32_t rank, const fate& f) {
    on.lost = rank;
    on.why_lost = f;
    on.admitted = 0;
    for (operation* op : active_)
      if (op->channel == &on && op->status == 0) op->status = team_lost;
    refuse_held_(on);
    relays_.drop(on);
  }

  // What a member has not done of an operation it will not do: no rank is to wait for it. An operation that
  // has not yet begun here fails when it does.
  void fail(channel& on, engine::sequence n, const transport::failure& of, std::uint32_t told_by) {
    for (operation* op : active_)
      if (op->channel == &on && op->seq == n) return op->fail(of.status, of.unreachable, told_by);
    if (n > on.retired) on.failures.push_back({n, of.status, of.unreachable, told_by});
  }

  // The others do not find out by themselves that this rank and that one do no more of the channel's
  // operations together.
  void tell_loss(channel& on, std::uint32_t rank) {
    const transport::failure of{transport::unreachable, rank};
    for (std::uint32_t member = 0; member < on.info.size(); ++member)
      if (on.info.world[member] != rank) tell(on, member, all_operations, of);
  }
  void tell_failure(channel& on, engine::sequence n, const transport::failure& of) {
    for (std::uint32_t member = 0; member < on.info.size(); ++member)
      tell(on, member, n, of);
  }
  void tell(channel& on, std::uint32_t member, engine::sequence n, const transport::failure& of) {
    if (member != on.info.me())
      members_.tell(on, member, {.kind = transport::message_kind::failed, .seq = n},
                    std::as_bytes(std::span(&of, 1)));
  }

  T& net_;
  reach<T>& members_;
  const channel_map& channels_;
  const std::vector<operation*>& active_;
  relays<T>& relays_;
  const refuse_handler refuse_held_;
};

} // namespace weft::progress
