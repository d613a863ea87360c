// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/execution/bundles.hpp"
#include "progress/execution/call_check.hpp"
#include "progress/execution/losses.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

namespace weft::progress {

// Brings the facts of the UCP lane to where the executor looks for them: into the shadow of the sender's
// mailbox, or into my own counters. Runs inside the transport's poll, so under progress ownership; the words
// are still written with the transport's operations, because near members raise the same counters at the same
// time.
template <transport::transport T> class inbox final : public transport::message_sink {
public:
  using request_handler = std::function<void(const transport::message&, std::span<const std::byte>)>;

  inbox(reach<T>& members, const channel_map& teams, relays<T>& handed_on, bundles<T>& together,
        losses<T>& lost)
      : net_(members.net), counts_(members.counts), members_(members), channels_(teams), relays_(handed_on),
        bundles_(together), losses_(lost) {}

  void serve(request_handler h) { serve_ = std::move(h); }
  // Called for a ring of another rank: what a thread waits for may lie in memory, and another one polls.
  void when_rung(std::function<void()> rung) { rung_ = std::move(rung); }

  void on_message(const transport::message& m, std::span<const std::byte> payload) override {
    using transport::message_kind;
    counts_.messages_received.add();
    if (m.kind == message_kind::ring) {
      if (rung_) rung_();
      return;
    }
    if (m.kind == message_kind::request) {
      if (serve_) serve_(m, payload);
      return;
    }
    const auto found = channels_.find(m.channel);
    if (found == channels_.end()) return; // freed: its last messages may be late
    channel& on = *found->second;
    const std::uint32_t sender = on.info.member(m.source);
    if (sender == on.info.size()) return;
    if (m.kind == message_kind::failed) [[unlikely]]
      return losses_.hear(on, m, payload);
    keep(on, sender, m, payload);
    if (m.wants != 0) tell_credit(on, sender, m.seq - m.wants);
    if (!on.relayed.empty()) relays_.carry_on(on);
  }

  // To far members that wait for credit: told() may have moved.
  [[gnu::noinline]] void answer_askers(channel& on) {
    std::erase_if(on.askers, [&](const credit_request& asker) {
      if (on.told() < asker.needed) return false;
      members_.answer(on, asker.member, {.kind = transport::message_kind::credit});
      return true;
    });
  }

private:
  void keep(channel& on, std::uint32_t sender, const transport::message& m,
            std::span<const std::byte> payload) {
    using transport::message_kind;
    const engine::mailbox theirs = members_.view(on, sender);
    const std::uint32_t slot = engine::slot_of(m.seq);
    const std::uint32_t cells = engine::cells_of(m.seq, m.phase % engine::phases);
    lift(theirs.retired(), m.retired);
    if (m.kind == message_kind::relayed) return relays_.arrived(on, m, payload);
    if (m.kind != message_kind::credit && m.kind != message_kind::wanted && m.kind != message_kind::dispute &&
        m.kind != message_kind::pulled)
      lift(theirs.entered(), m.seq); // a member that speaks of it has entered it
    switch (m.kind) {
    case message_kind::named:
      on.namings[slot] = {m.seq, sender};
      [[fallthrough]];
    case message_kind::payload:
      net_.copy(theirs.payload(cells, payload.size()), payload.data(), payload.size());
      // The two ends of an unequal block may say different sizes: the note in front of it is found all the
      // same.
      if (payload.size() > engine::mailbox::body_bytes) [[unlikely]]
        net_.copy(theirs.body(cells), payload.data(), engine::mailbox::line);
      net_.store(theirs.head(cells).stamp, m.seq);
      break;
    case message_kind::pull:
      bundles_.answer(on, sender, m, payload);
      break;
    case message_kind::bundle:
    case message_kind::pulled:
      bundles_.arrived(on, sender, m, payload);
      break;
    case message_kind::delivered:
      members_.raise(on.own.counts(cells).delivered, m.seq, m.count);
      members_.wake_near(); // neighbours follow what lands on their leader
      break;
    case message_kind::consumed:
      members_.raise(on.own.counts(cells).consumed, m.seq, m.count);
      break;
    case message_kind::stage_in:
    case message_kind::stage_out:
      reached(theirs, cells, m, payload);
      break;
    case message_kind::asked:
      tell_row(on, sender, m.seq);
      break;
    case message_kind::call:
      call_check<T>::write(net_, theirs.call(slot), m.seq, payload);
      call_check<T>(members_).look_back(on, m.seq, sender);
      break;
    case message_kind::dispute:
      call_check<T>::write(net_, theirs.dispute(), m.seq, payload);
      break;
    case message_kind::wanted:
      tell_credit(on, sender, m.seq);
      break;
    case message_kind::credit: // the answer: no question is open now
      on.questions[sender].asked = 0;
      break;
    default:
      break;
    }
  }

  // The sender waits until I have retired operation n, or an older one that it has asked for as well.
  void tell_credit(channel& on, std::uint32_t sender, engine::sequence n) {
    if (on.told() >= n) return members_.answer(on, sender, {.kind = transport::message_kind::credit});
    const auto known = std::ranges::find(on.askers, sender, &credit_request::member);
    if (known == on.askers.end())
      on.askers.push_back({sender, n});
    else
      known->needed = std::min(known->needed, n);
  }

  // The rank answers when it publishes the row.
  void tell_row(channel& on, std::uint32_t sender, engine::sequence n) {
    if (on.rows[engine::slot_of(n)].seq == n)
      members_.tell_row(on, sender, n);
    else
      on.waiters.push_back({sender, n});
  }

  void reached(const engine::mailbox& theirs, std::uint32_t cells, const transport::message& m,
               std::span<const std::byte> value) {
    if (!value.empty()) net_.copy(reach<T>::value_place(theirs, cells, m.round), value.data(), value.size());
    auto& counts = theirs.counts(cells);
    lift(m.kind == transport::message_kind::stage_in ? counts.stage_in : counts.stage_out,
         engine::stage_word::make(m.seq, m.round + 1u));
  }

  // A shadow has one writer, so a load and a store raise it.
  void lift(engine::word& w, std::uint64_t value) {
    if (net_.load(w) < value) net_.store(w, value);
  }

  T& net_;
  statistics& counts_;
  reach<T>& members_;
  const channel_map& channels_;
  relays<T>& relays_;
  bundles<T>& bundles_;
  losses<T>& losses_;
  request_handler serve_;
  std::function<void()> rung_;
};

} // namespace weft::progress
