// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/operations/all_kinds.hpp"
#include "progress/execution/claims.hpp"
#include "progress/execution/computations.hpp"
#include "progress/execution/in_place.hpp"
#include "progress/execution/recorder.hpp"
#include "progress/execution/reductions.hpp"
#include "progress/execution/signals.hpp"

namespace weft::progress {

// What a post does for other hosts: all that it can, messages, or nothing.
enum class posted_far : std::uint8_t { all, messages, nothing };

// Runs single nodes, for one peer each: looks their kind up, and gives it what kinds do things with.
template <transport::transport T> class node_steps {
public:
  node_steps(T& net, statistics& counts, const faults& broken, const user_memory& user)
      : members(net, counts, broken), flights(net), blocks(members, user), copies(members, blocks),
        claims(members, blocks, copies), in_place(members, blocks, flights), rotations(members, blocks),
        transfers(members, blocks, copies, in_place, flights), reductions(members),
        computations(members, flights), bundles(members), payloads(members, blocks, transfers, bundles),
        roots(members, blocks), calls(members),
        signals(members, blocks, flights, payloads, in_place, roots, calls, bundles) {}
  node_steps(const node_steps&) = delete;
  node_steps& operator=(const node_steps&) = delete;

  // While posting, only what others wait for is done: signals, and transfers of the UCP lane. What near
  // members have is looked at, and carried, later: the caller wants to compute. Over sockets `far` says how
  // much of what leaves the host.
  void post_only(bool on, posted_far far = posted_far::all) {
    computations.posting = on;
    how_ = static_cast<std::uint8_t>(on ? how_ | posting : how_ & ~posting);
    far_ = far;
    left_ = false;
  }
  // There was something else for others to be done.
  bool left() const { return left_; }

  outcome step(operation& op, const graph::node& n, std::uint32_t peer, flight_tag tag) {
    if (how_ != 0) {
      if (how_ != noted && (can_wait(op, n, peer, tag) || leaves(op, n, peer))) return outcome::blocked;
      if (how_ >= noted) [[unlikely]]
        return step_noted(op, n, peer, tag);
    }
    return run_of_kind[static_cast<std::size_t>(n.what)](*this, op, n, peer, tag);
  }

  // The same of a straight plan, for a call that does not post; while nothing is noted.
  [[gnu::always_inline]] outcome step_straight(operation& op, const graph::straight_step& s) {
    const graph::node& n = op.program->nodes[s.node];
    return run_of_kind[static_cast<std::size_t>(n.what)](*this, op, n, s.peer,
                                                         {.node = s.top, .iteration = s.iteration});
  }
  bool plain() const { return how_ == 0; }

  // From now on what happens is noted.
  void record_by(recorder& r) {
    members.record = &r;
    how_ |= noted;
  }

  // A post carries nothing for others: a rank that has done its part is through when it comes again.
  outcome help_lenders(operation& op) {
    if (!claims.any_rank_lends(op)) return outcome::blocked;
    return (how_ & posting) != 0 ? outcome::held : claims.help_lenders(op);
  }

  reach<T> members;
  flight_pool<T> flights;
  operands<T> blocks;
  lone_copies<T> copies;
  progress::claims<T> claims;
  in_place_steps<T> in_place;
  rotation_steps<T> rotations;
  progress::transfers<T> transfers;
  progress::reductions<T> reductions;
  progress::computations<T> computations;
  progress::bundles<T> bundles;
  progress::payloads<T> payloads;
  root_discovery<T> roots;
  call_check<T> calls;
  progress::signals<T> signals;

private:
  using run_function = outcome (*)(node_steps&, operation&, const graph::node&, std::uint32_t, flight_tag);
  static constexpr auto run_of_kind =
      graph::operations::all_kinds::table([]<class Kind>() -> run_function { return &Kind::run; });

  [[gnu::cold, gnu::noinline]] outcome step_noted(operation& op, const graph::node& n, std::uint32_t peer,
                                                  flight_tag tag) {
    const outcome result = run_of_kind[static_cast<std::size_t>(n.what)](*this, op, n, peer, tag);
    if (result == outcome::done || result == outcome::again || result == outcome::flying)
      members.record->stepped(op, n.what, peer);
    return result;
  }

  static bool can_wait(const operation& op, const graph::node& n, std::uint32_t peer, flight_tag tag) {
    if (n.what == graph::kind::signal || computations_of_post(op, n)) return false;
    const bool looks = n.what == graph::kind::await || n.what == graph::kind::take;
    if (looks && (op.program->alone >> tag.node & 1) != 0) return false; // else it would be rung to look
    return n.about == graph::fact::named || reach<T>::near(op, peer);
  }

  // What has come before the post wakes no thread any more: so words are looked at, and payloads are taken.
  bool leaves(const operation& op, const graph::node& n, std::uint32_t peer) {
    const bool looks = n.what == graph::kind::await || n.what == graph::kind::take;
    if (far_ == posted_far::all || looks || reach<T>::near(op, peer)) return false;
    if (far_ == posted_far::messages && n.what == graph::kind::signal) return false;
    left_ |= graph::serves_others(n.what);
    return true;
  }

  // What others wait for, and no rank but this one would compute: where no thread drives for it, all of it.
  static bool computations_of_post(const operation& op, const graph::node& n) {
    return n.what == graph::kind::compute && (n.quick || (op.lent && n.count == 0 && !op.at.task->user));
  }

  static constexpr std::uint8_t posting = 1, noted = 2;
  std::uint8_t how_ = 0;
  posted_far far_ = posted_far::all;
  bool left_ = false;
};

} // namespace weft::progress
