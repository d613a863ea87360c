// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/resolve.hpp"
#include "progress/execution/bundles.hpp"
#include "progress/execution/call_check.hpp"
#include "progress/execution/root_discovery.hpp"
#include "progress/execution/transfers.hpp"

namespace weft::progress {

static_assert(graph::plan{}.credit == engine::slots, "which ranks have retired the last user of a slot");
static_assert(graph::max_phases == engine::phases, "a plan has no more phases than a slot has cells for");

// Raises cells and waits for them: which word of which mailbox each is, by which message a far member hears
// of it, and what is written beside it first. Nothing else in the executor knows one fact from the other.
template <transport::transport T> class signals {
  using fact = graph::fact;
  using word = engine::word;

public:
  signals(reach<T>& members, operands<T>& blocks, flight_pool<T>& flights, payloads<T>& eager,
          in_place_steps<T>& in_place, root_discovery<T>& roots, call_check<T>& calls, bundles<T>& together)
      : reach_(members), net_(members.net), operands_(blocks), flights_(flights), payloads_(eager),
        in_place_(in_place), roots_(roots), calls_(calls), bundles_(together) {}

  // Has the cell come to its value? If not, the word is noted: until it has, another look finds nothing new.
  [[gnu::always_inline]] bool reached(operation& op, const graph::cell& c) {
    const auto [word, value] = word_of(op, c);
    if (net_.load(*word) >= value) return true;
    op.run->watch.note(*word, value);
    return false;
  }

  // Has the eager payload come of which a node takes its part?
  [[gnu::always_inline]] bool has_payload(operation& op, const graph::node& n, std::uint32_t peer) {
    if (n.bundled) [[unlikely]]
      return is_in_box(op, peer);
    return reached(op, {fact::payload, n.phase, peer, 0});
  }

  outcome await(operation& op, const graph::node& n, std::uint32_t peer, flight_tag tag) {
    if (n.bundled) [[unlikely]]
      return await_readers(op, n);
    const graph::cell c = graph::cell_of(*op.program, n, peer, tag.iteration);
    if (!is_known(op, n, c)) return outcome::blocked;
    if (n.valued) take_value(op, n, peer, tag.iteration);
    return outcome::done;
  }

  outcome raise(operation& op, const graph::node& n, std::uint32_t peer, flight_tag tag) {
    if (n.bundled && n.about == fact::payload) [[unlikely]]
      return bundles_.send(op, n, peer);
    if (n.bundled && !bundles_.counts(op, peer)) [[unlikely]]
      return outcome::done; // the packer tells what was read
    if (!has_credit(op, n, peer)) return outcome::blocked;
    const bool to_group = n.peer == graph::peer_rule::group;
    if (to_group && n.about == fact::payload) [[likely]]
      return publish(op, n);
    switch (n.about) {
    case fact::payload:
      return send(op, n, peer, tag);
    case fact::delivered:
    case fact::consumed:
      return count(op, n, peer, tag);
    case fact::stage_in:
    case fact::stage_out:
      return announce_stage(op, n, peer, tag);
    case fact::ready:
      // To a far member an empty payload: its stamp says it, one for each sender.
      return to_group ? stamp(op, n.phase) : tell(op, n, peer, tag, {});
    case fact::row:
      return to_group ? publish_row(op) : send_row(op, n, peer, tag);
    case fact::call:
      return to_group ? publish_call(op, n) : tell(op, n, peer, tag, calls_.published(op));
    case fact::entry:
    case fact::asked:
      return tell(op, n, peer, tag, {});
    case fact::named:
    case fact::none:
      break;
    }
    return outcome::done;
  }

  // By the root.
  outcome choose(operation& op, const graph::node& n) {
    execution& run = *op.run;
    const graph::task& task = *op.at.task;
    const bool may = task.room_alone != 0;
    graph::branch way = graph::branch::together;
    for (std::uint32_t k = 1; k < op.program->members && way == graph::branch::together; ++k) {
      const std::uint32_t member = (op.program->me + k) % op.program->members;
      const auto [at, value] = word_of(op, {n.about, 0, member, 0});
      if (net_.load(*at) < value)
        way = may && waited_enough(op) ? graph::branch::alone : graph::branch::either;
    }
    if (way == graph::branch::either) {
      reach_.choosing |= may;
      return outcome::blocked;
    }
    if (way == graph::branch::alone && !run.room.reserve(task.room_alone)) {
      reach_.later = true;
      return outcome::blocked;
    }
    run.choice = way;
    return outcome::done;
  }
  outcome hear_choice(operation& op, const graph::node& n) {
    if (reached(op, {fact::payload, 0, op.program->root, 0})) {
      op.run->choice = graph::branch::together;
      return outcome::done;
    }
    const auto [at, value] = word_of(op, {n.about, n.phase, op.program->me, n.count});
    if (net_.load(*at) >= value) {
      op.run->choice = graph::branch::alone;
      return outcome::done;
    }
    op.run->watch.note_another(*at, value);
    return outcome::blocked;
  }

  struct watched {
    word* at;
    std::uint64_t value;
  };
  // Words that only grow.
  [[gnu::always_inline]] watched word_of(operation& op, const graph::cell& c) {
    const engine::mailbox of = reach_.view(*op.channel, c.owner);
    const std::uint32_t cells = engine::cells_of(op.seq, c.phase);
    switch (c.what) {
    case fact::delivered:
      return {&of.counts(cells).delivered, engine::counter::make(op.seq, c.value)};
    case fact::consumed:
      return {&of.counts(cells).consumed, engine::counter::make(op.seq, c.value)};
    case fact::stage_in:
      return {&of.counts(cells).stage_in, engine::stage_word::make(op.seq, c.value)};
    case fact::stage_out:
      return {&of.counts(cells).stage_out, engine::stage_word::make(op.seq, c.value)};
    case fact::entry:
      return {&of.entered(), op.seq};
    default: // payload, ready
      return {&of.head(cells).stamp, op.seq};
    }
  }

  // The word that says so, of a far member.
  word& box_stamp(operation& op, std::uint32_t peer) {
    const graph::topology& g = op.channel->info.topology;
    return reach_.box(*op.channel, g.host(peer)).stamp(engine::slot_of(op.seq), g.local_index(peer));
  }

private:
  using message_kind = transport::message_kind;

  bool waited_enough(operation& op) {
    std::chrono::nanoseconds& since = op.run->choosing_since;
    const std::chrono::nanoseconds now = net_.now();
    if (since.count() == 0) since = now;
    return now - since >= std::chrono::nanoseconds(op.program->patience + op.at.task->patience);
  }

  [[gnu::noinline]] bool is_in_box(operation& op, std::uint32_t peer) {
    word& stamp = box_stamp(op, peer);
    if (net_.load(stamp) >= op.seq) return true;
    op.run->watch.note(stamp, op.seq);
    return false;
  }

  // Far readers of my blocks are not counted: the member that packs for a host notes it in the box.
  [[gnu::noinline]] outcome await_readers(operation& op, const graph::node& n) {
    bool all = true;
    bundles_.each_read(op, [&](std::uint32_t, word& sent) {
      if (!all || net_.load(sent) >= op.seq) return;
      op.run->watch.note(sent, op.seq);
      all = false;
    });
    if (!all) return outcome::blocked;
    const auto counted = static_cast<std::uint32_t>(bundles_.counting(op, n.count));
    return counted == 0 || reached(op, {n.about, n.phase, op.program->me, counted}) ? outcome::done
                                                                                    : outcome::blocked;
  }

  // The one rule of credit: what stays in the cells of a slot until it has been read may be written when
  // the member that reads it has retired the operation that had the slot before. A word that only grows (an
  // entry, a round) needs no leave, nor does a line whose readers find out that it has changed (a call).
  [[gnu::always_inline]] bool has_credit(operation& op, const graph::node& n, std::uint32_t peer) {
    const bool stays = n.about == fact::payload || graph::is_counter(n.about) || n.about == fact::ready ||
                       n.about == fact::row || n.valued;
    if (!stays) return true;
    if (n.peer == graph::peer_rule::self) return true; // my own count
    // A value lies beside a round's word in my own mailbox, if it is for a near member.
    if (n.peer == graph::peer_rule::group || (graph::is_stage(n.about) && reach<T>::near(op, peer)))
      return reach_.near_credit(op) &&
             (n.about != fact::row || !op.program->rooted_by_rows() || reach_.far_credit(op));
    if (n.relayed) return reach_.exact_credit(*op.channel, op.seq, peer);
    return reach_.credit(op, peer);
  }

  // By which message a far member hears of a fact, in their order.
  static constexpr std::array messages = {
      message_kind::ring,     message_kind::entry,    message_kind::payload,   message_kind::delivered,
      message_kind::consumed, message_kind::stage_in, message_kind::stage_out, message_kind::asked,
      message_kind::named,    message_kind::ring,     message_kind::call,      message_kind::payload};

  [[gnu::always_inline]] bool is_known(operation& op, const graph::node& n, const graph::cell& c) {
    if (graph::is_counter(c.what)) {
      if (n.stepwise) return c.value == 0 || reached(op, c);
      return counted(op, c);
    }
    const bool of_rows = c.what == fact::row || c.what == fact::named || c.what == fact::call;
    return of_rows ? is_known_by_rows(op, n, c) : reached(op, c);
  }
  // What is no single word.
  [[gnu::noinline]] bool is_known_by_rows(operation& op, const graph::node& n, const graph::cell& c) {
    if (c.what == fact::row) {
      named_block row;
      return operands_.row(op, c.owner, row);
    }
    if (c.what == fact::named) return roots_.found_naming(op);
    return n.count == 0 ? calls_.admits(op) : calls_.admits_names(op);
  }

  // A count that stands in the plan, less what is not in the counter, or one that only the rows tell.
  bool counted(operation& op, graph::cell c) {
    const std::uint32_t uncounted = c.what == fact::delivered ? op.run->own_pieces : 0;
    if (uncounted != 0 && c.value == uncounted) return true;
    c.value -= uncounted;
    if (c.value == 0 && op.program->in_place) return in_place_.has_gone(op, in_place_.outgoing_pieces(op));
    if (c.value == 0 && !op.run->found->not_root)
      c.value = static_cast<std::uint32_t>(op.run->found->expected);
    return c.value == 0 || reached(op, c);
  }

  // To a far member, about the operation.
  [[gnu::noinline]] outcome tell(operation& op, const graph::node& n, std::uint32_t peer, flight_tag tag,
                                 std::span<const std::byte> payload, message_kind as) {
    const auto round = static_cast<std::uint8_t>(graph::is_stage(n.about) ? tag.iteration : 0);
    const transport::message m{.kind = as, .phase = n.phase, .round = round, .count = n.count, .seq = op.seq};
    return tell(op, peer, tag, m, payload);
  }
  outcome tell(operation& op, std::uint32_t peer, flight_tag tag, const transport::message& m,
               std::span<const std::byte> payload) {
    return flights_.request(op, peer, tag,
                            [&](flight& f) { return reach_.send(*op.channel, peer, m, payload, f); });
  }
  outcome tell(operation& op, const graph::node& n, std::uint32_t peer, flight_tag tag,
               std::span<const std::byte> payload) {
    return tell(op, n, peer, tag, payload, messages[static_cast<std::size_t>(n.about)]);
  }

  // What lies in these cells of mine is this operation's.
  outcome stamp(operation& op, std::uint8_t phase) {
    net_.store(op.channel->own.head(engine::cells_of(op.seq, phase)).stamp, op.seq);
    reach_.wake_near();
    return outcome::done;
  }

  [[gnu::always_inline]] outcome publish(operation& op, const graph::node& n) {
    payloads_.write(op, n);
    return stamp(op, n.phase);
  }

  [[gnu::noinline]] outcome publish_call(operation& op, const graph::node& n) {
    return n.count == 0 ? calls_.publish(op) : calls_.publish_name(op, operands_.own_row(op).named);
  }

  [[gnu::noinline]] outcome send(operation& op, const graph::node& n, std::uint32_t peer, flight_tag tag) {
    if (n.relayed) return relay(op, n, peer, tag);
    const auto as = op.program->names != graph::naming::none ? message_kind::named : message_kind::payload;
    return tell(op, n, peer, tag, payloads_.message(op, n, peer, tag.iteration), as);
  }

  // To be handed on: whose payload it is, and in which tree; see relays.hpp.
  [[gnu::noinline]] outcome relay(operation& op, const graph::node& n, std::uint32_t peer, flight_tag tag) {
    const transport::message m{.kind = message_kind::relayed,
                               .phase = n.phase,
                               .round = static_cast<std::uint8_t>(op.program->radix),
                               .count = op.program->me,
                               .seq = op.seq};
    return tell(op, peer, tag, m, payloads_.message(op, n, peer, tag.iteration));
  }

  [[gnu::noinline]] outcome count(operation& op, const graph::node& n, std::uint32_t peer, flight_tag tag) {
    const graph::cell c = graph::cell_of(*op.program, n, peer, tag.iteration);
    if (!reach<T>::near(op, c.owner)) return tell(op, n, peer, tag, {});
    reach_.raise(*word_of(op, c).at, op.seq, c.value);
    reach_.wake_near();
    return outcome::done;
  }

  // Announces that I have reached this round; a barrier's value lies beside it, one place a round.
  [[gnu::noinline]] outcome announce_stage(operation& op, const graph::node& n, std::uint32_t peer,
                                           flight_tag tag) {
    const bool near = reach<T>::near(op, peer);
    if (!near) {
      std::span<const std::byte> value;
      if (n.valued) value = std::as_bytes(std::span(&op.value, 1));
      return tell(op, n, peer, tag, value);
    }
    if (n.valued)
      net_.copy(reach_.value_place(op.channel->own, engine::cells_of(op.seq, n.phase), tag.iteration),
                &op.value, sizeof op.value);
    const auto [mine, value] = word_of(op, graph::cell_of(*op.program, n, peer, tag.iteration));
    net_.store(*mine, value);
    reach_.wake_near();
    return outcome::done;
  }
  // The one that lies beside a round.
  void take_value(operation& op, const graph::node& n, std::uint32_t peer, std::uint32_t round) {
    const engine::mailbox theirs = reach_.view(*op.channel, peer);
    payloads_.merge_value(op, reach_.value_place(theirs, engine::cells_of(op.seq, n.phase), round));
  }

  // What my row says: into my own slot for near members, and to far ones that have asked. A member that still
  // has to ask has not retired the operation, so what I answer with stays until all have: rows that no member
  // asks for leave it alone.
  [[gnu::noinline]] outcome publish_row(operation& op) {
    channel& on = *op.channel;
    const named_block& row = operands_.own_row(op);
    if (op.program->rooted_by_rows()) on.rows[engine::slot_of(op.seq)] = {op.seq, row};
    net_.copy(on.own.head(engine::cells_of(op.seq)).payload, &row, sizeof row);
    stamp(op, 0);
    std::erase_if(on.waiters, [&](const credit_request& waiter) {
      if (waiter.needed != op.seq) return false;
      reach_.tell_row(on, waiter.member, op.seq);
      return true;
    });
    return outcome::done;
  }

  [[gnu::noinline]] outcome send_row(operation& op, const graph::node& n, std::uint32_t peer,
                                     flight_tag tag) {
    return tell(op, n, peer, tag, std::as_bytes(std::span(&operands_.own_row(op), 1)));
  }

  reach<T>& reach_;
  T& net_;
  operands<T>& operands_;
  flight_pool<T>& flights_;
  payloads<T>& payloads_;
  in_place_steps<T>& in_place_;
  root_discovery<T>& roots_;
  call_check<T>& calls_;
  bundles<T>& bundles_;
};

} // namespace weft::progress
