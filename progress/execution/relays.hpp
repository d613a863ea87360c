// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/linked_items.hpp"
#include "engine/topology/topology.hpp"
#include "progress/execution/reach.hpp"

#include <cstring>
#include <span>

namespace weft::progress {

// Small payloads of a broadcast under IN_MY, between hosts, handed on by engines: whether the rank has
// entered the operation, or ever will, is no rank's business, for nothing of its user's is touched.
//
// The root sends to the members of the hosts below its own in a tree over the hosts (graph::relay_tree), and
// says in the message whose payload it is and how wide the tree is. That is all that a receiver needs: it
// puts the payload into its shadow of the root, where its own plan looks as if the root had sent it, and the
// leader of a host sends it on from there to those below.
//
// Credit goes from hop to hop. A rank that sends needs that of the receiver, the root as well as a relay: the
// receiver must have retired the operation that had the cells before. A child without credit is remembered by
// a bit (relay_book), and tried again when a message of its comes; others do not wait for it. A payload that
// is still to be handed on lies in the shadow and nowhere else. So what a rank tells others as retired
// (channel::told) stops before it, and no rank overwrites it: hence also no more than one for each slot. What
// near members read in the mailbox does not stop, for they write into no shadow. Any rank that is blocked
// waits for an older operation than its own, so no rank waits in a circle.
//
// A payload may come twice, if a request was repeated; the stamp tells. Who cannot hand on makes the
// operation fail, here and by news to all members, as a failed request of its own would. When a member of the
// team has died nothing is handed on any more: all that the team has under way fails on all of them.
//
// Under progress ownership; requests end within the transport's poll, where nothing is sent: what is left is
// done in the next sweep (`reach::later`).
template <transport::transport T> class relays {
public:
  // `failed` makes an operation fail on this member; `gone` is called when told() has moved.
  using failed_handler = std::function<void(channel&, engine::sequence, const transport::failure&)>;
  using gone_handler = std::function<void(channel&)>;

  explicit relays(reach<T>& members) : net_(members.net), members_(members) {}
  relays(const relays&) = delete;
  void report(failed_handler failed, gone_handler gone) {
    failed_ = std::move(failed);
    gone_ = std::move(gone);
  }

  void arrived(channel& on, const transport::message& m, std::span<const std::byte> payload) {
    const std::uint32_t root = m.count;
    if (!is_sound(on, m, payload)) return;
    const engine::mailbox theirs = members_.view(on, root);
    const std::uint32_t cells = engine::cells_of(m.seq, m.phase);
    engine::word& stamp = theirs.head(cells).stamp;
    if (net_.load(stamp) >= m.seq) return; // once more
    if (net_.load(theirs.entered()) < m.seq) net_.store(theirs.entered(), m.seq);
    net_.copy(theirs.payload(cells, payload.size()), payload.data(), payload.size());
    net_.store(stamp, m.seq);
    const std::uint32_t children = graph::relay_tree(on.info.topology, root, m.round).below(on.info.me());
    if (children == 0 || on.lost != channel::no_rank) return;
    relayed_payload* const p = on.relayed.begin({.seq = m.seq,
                                                 .root = root,
                                                 .radix = m.round,
                                                 .bytes = static_cast<std::uint32_t>(payload.size()),
                                                 .phase = m.phase,
                                                 .children = children});
    if (p != nullptr) hand_on(on, *p);
  }

  // A message has come, perhaps with credit; or a request is to be made again.
  void carry_on(channel& on) {
    for (std::uint32_t rest = on.relayed.busy(); rest != 0; rest &= rest - 1) {
      relayed_payload& p = on.relayed[static_cast<unsigned>(std::countr_zero(rest))];
      if (p.failed != 0 && p.in_flight == 0) repair(on, p);
      if (p.failed == 0) hand_on(on, p);
    }
  }

  // No rank waits for it any more.
  void drop(channel& on) {
    for (std::uint32_t rest = on.relayed.busy(); rest != 0; rest &= rest - 1) {
      relayed_payload& p = on.relayed[static_cast<unsigned>(std::countr_zero(rest))];
      on.relayed.drop(p);
      if (p.in_flight == 0) on.relayed.end(p);
    }
  }

  std::size_t in_flight() const { return in_flight_; }

private:
  struct forward : transport::completion {
    relays* owner = nullptr;
    forward* next = nullptr;
    channel* on = nullptr;
    relayed_payload* what = nullptr;
    std::uint32_t child = 0;
  };

  // What fits into no cell, or names no rank, is dropped.
  bool is_sound(const channel& on, const transport::message& m, std::span<const std::byte> payload) const {
    return m.count < on.info.size() && !on.info.topology.is_near(m.count) && m.round >= 2 &&
           m.phase < engine::phases && payload.size() <= engine::mailbox::body_bytes;
  }

  void hand_on(channel& on, relayed_payload& p) {
    const graph::relay_tree tree(on.info.topology, p.root, p.radix);
    on.relayed.each_unsent(p, [&](std::uint32_t k) { return send(on, p, tree.child(on.info.me(), k)); });
    if (p.unsent == 0 && p.in_flight == 0 && p.failed == 0) end(on, p);
  }

  // False if it is to be tried again.
  bool send(channel& on, relayed_payload& p, std::uint32_t child) {
    if (p.failed != 0 || !members_.exact_credit(on, p.seq, child)) return false;
    forward* const f = forwards_.take();
    if (f == nullptr) [[unlikely]]
      return try_later();
    f->owner = this;
    f->done = [](transport::completion* c, int status) {
      auto& sent = *static_cast<forward*>(c);
      sent.owner->sent(sent, status);
    };
    f->on = &on;
    f->what = &p;
    f->child = child;
    const std::byte* const from =
        members_.view(on, p.root).payload(engine::cells_of(p.seq, p.phase), p.bytes);
    const transport::message m{.kind = transport::message_kind::relayed,
                               .phase = p.phase,
                               .round = static_cast<std::uint8_t>(p.radix),
                               .count = p.root,
                               .seq = p.seq};
    const transport::started came = members_.send(on, child, m, {from, p.bytes}, *f);
    if (came.under_way()) {
      ++p.in_flight;
      ++in_flight_;
      return true;
    }
    forwards_.give_back(*f);
    if (came.done()) return true;
    note_failure(on, p, child, came.status());
    return try_later();
  }

  void sent(forward& f, int status) {
    relayed_payload& p = *f.what;
    --p.in_flight;
    --in_flight_;
    if (status < 0) [[unlikely]]
      note_failure(*f.on, p, f.child, status);
    forwards_.give_back(f);
    if (p.in_flight == 0 && (p.unsent == 0 || p.failed != 0)) members_.later = true;
  }

  void note_failure(const channel& on, relayed_payload& p, std::uint32_t child, int status) {
    p.failed = status;
    p.unreachable = on.info.world[child];
  }
  bool try_later() {
    members_.later = true;
    return false;
  }

  // For want of memory it is sent again, to all. Else the operation has failed.
  [[gnu::cold, gnu::noinline]] void repair(channel& on, relayed_payload& p) {
    const transport::failure why{std::exchange(p.failed, 0), p.unreachable};
    if (on.lost == channel::no_rank && why.status == transport::no_memory) return on.relayed.mark_unsent(p);
    on.relayed.drop(p);
    if (on.lost == channel::no_rank) failed_(on, p.seq, why);
  }

  void end(channel& on, relayed_payload& p) {
    on.relayed.end(p);
    gone_(on);
  }

  T& net_;
  reach<T>& members_;
  weft::engine::item_pool<forward> forwards_;
  std::size_t in_flight_ = 0;
  failed_handler failed_;
  gone_handler gone_;
};

} // namespace weft::progress
