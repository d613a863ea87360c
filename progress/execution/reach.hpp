// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/bundle_box.hpp"
#include "engine/out_of_memory.hpp"
#include "engine/transport/transport.hpp"
#include "progress/execution/channel.hpp"
#include "progress/execution/flights.hpp"
#include "progress/execution/neighbours.hpp"
#include "progress/execution/quota.hpp"
#include "progress/execution/recorder.hpp"
#include "progress/execution/statistics.hpp"

#include <algorithm>
#include <span>

namespace weft::progress {

// Switched-off mechanisms, for tests that must fail without them.
struct faults {
  bool ignore_credit = false; // touch the cells of a slot that others may still use
  bool never_ring = false;    // let sleepers sleep
};

// Where the data of users may lie; a pointer found elsewhere is an error.
struct user_memory {
  std::uint64_t begin = 0, end = std::uint64_t{1} << 62;

  bool holds(std::uint64_t offset, engine::checked bytes) const {
    return offset >= begin && offset <= end && bytes <= end - offset;
  }
  // A size that an array says, for reckoning with: 0 where no memory is so large. Such a block is not moved,
  // and the rank that would have carried it says so.
  std::uint64_t possible(engine::checked bytes) const { return bytes <= end - begin ? bytes.plain() : 0; }
};

// What an engine has of the world around it: the transport, which is its memory, its messages, its clock and
// the ring that wakes it; where it counts what happens; where its user's data may lie.
template <class T> struct services {
  T& net;
  statistics& counts;
  faults broken = {};
  user_memory user = {};
};

// How one rank reaches the members of its teams: their mailboxes and memory, messages to far ones, and when
// the cells of a slot may be used.
template <transport::transport T> class reach {
public:
  explicit reach(const services<T>& around)
      : net(around.net), counts(around.counts), user(around.user), broken_(around.broken), neighbours_(net),
        notices_(net, later) {}

  T& net;
  statistics& counts;
  const user_memory user;
  weft::engine::shortage shortage;
  quota carries;
  recorder* record = nullptr; // of what happens, if it is asked for
  bool choosing = false;      // a root waits for others for a while: no event tells when it is over
  bool later = false;         // something that could not be done at once is tried again at the next sweep

  void note_entry(const operation& op) {
    if (record != nullptr) [[unlikely]]
      record->entered(op);
  }

  // The mailbox of a member: in its memory, or the shadow of a far one.
  [[gnu::always_inline]] engine::mailbox view(channel& on, std::uint32_t member) {
    const engine::mailbox& known = on.mailboxes[member];
    if (!known) [[unlikely]]
      connect(on, member);
    return known;
  }

  // The memory of a near member (or mine); null for a far one.
  std::byte* base(channel& on, std::uint32_t member) {
    if (member == on.info.me()) return net.segment();
    return on.info.topology.is_near(member) ? net.direct(on.info.world[member]) : nullptr;
  }

  // What my host and another one have between them, and the turn of my host.
  engine::bundle_box box(channel& on, std::uint32_t other) {
    const graph::topology& g = on.info.topology;
    const std::uint32_t mine = g.host(g.me());
    return {boxes(on, graph::leader_towards(g, mine, other)), g, mine, other};
  }
  // Where what a member of another host has for mine lies there.
  std::byte* part(channel& on, engine::bundle_box::layout l, std::uint32_t slot, std::uint32_t place,
                  std::uint32_t member, std::uint64_t bytes) {
    using boxed = engine::bundle_box;
    const graph::topology& g = on.info.topology;
    if (boxed::has_places(l))
      return boxed::large_part(boxes(on, boxed::large_holder(g, member)), g, member, place);
    return box(on, g.host(member)).part(l, slot, g.local_index(member), bytes);
  }
  engine::word& turn(channel& on, std::uint32_t slot) {
    return engine::bundle_box::turn(boxes(on, on.info.topology.local(0)), slot);
  }

  bool entered(operation& op, std::uint32_t member) {
    return net.load(view(*op.channel, member).entered()) >= op.seq;
  }
  bool neighbours_entered(operation& op) {
    return std::ranges::all_of(op.channel->info.topology.near(),
                               [&](std::uint32_t member) { return entered(op, member); });
  }
  static bool near(const operation& op, std::uint32_t member) {
    return op.channel->info.topology.is_near(member);
  }

  // Has a counter of this operation come so far? Raises one.
  bool reached(engine::word& w, const operation& op, std::uint64_t count) {
    return engine::counter::reached(net.load(w), op.seq, count);
  }
  void raise(engine::word& counter_word, engine::sequence n, std::uint64_t by) {
    std::uint64_t seen = net.load(counter_word);
    for (;;) {
      const std::uint64_t next = engine::counter::plus(seen, n, by);
      if (net.cas(counter_word, seen, next)) return;
    }
  }
  engine::mailbox::count_line& own_counts(const operation& op) {
    return op.channel->own.counts(engine::cells_of(op.seq));
  }

  // True if the member has retired the previous user of this operation's slot, or of its place for a large
  // payload. A far member that has nothing else to tell me would never say how far it is. So a message that
  // goes there half a turn of the ring ahead asks it, too; a rank that cannot go on without the answer asks
  // by a message of its own, and relies on that one only.
  bool credit(operation& op, std::uint32_t member) {
    channel& on = *op.channel;
    engine::sequence& known = on.credit[member].retired;
    const std::uint32_t turn = op.program->credit;
    if (known + turn / 2 >= op.seq || broken_.ignore_credit) [[likely]]
      return true;
    known = net.load(view(on, member).retired());
    const bool enough = known + turn >= op.seq;
    if (known + turn / 2 >= op.seq || on.info.topology.is_near(member)) return enough;
    if (enough)
      mention_credit(on, member, op.seq - turn / 2);
    else
      ask_for_credit(on, member, op.seq - turn / 2);
    return enough;
  }

  // The same of a far member that others wait behind: a rank that waits for it asks for what it needs and no
  // more, for it may come no farther without them.
  bool exact_credit(channel& on, engine::sequence n, std::uint32_t member,
                    engine::sequence turn = engine::slots) {
    engine::sequence& known = on.credit[member].retired;
    if (known + turn / 2 >= n || broken_.ignore_credit) [[likely]]
      return true;
    known = net.load(view(on, member).retired());
    if (known + turn / 2 >= n) return true;
    const bool enough = known + turn >= n;
    ask_for_credit(on, member, n - (enough ? turn / 2 : turn));
    return enough;
  }

  bool near_credit(operation& op) {
    channel& on = *op.channel;
    if (on.near_credit + engine::slots >= op.seq || broken_.ignore_credit) return true;
    engine::sequence lowest = op.seq;
    for (std::uint32_t peer : on.info.topology.near())
      lowest = std::min(lowest, net.load(view(on, peer).retired()));
    on.near_credit = lowest;
    return lowest + engine::slots >= op.seq;
  }

  bool far_credit(operation& op) {
    bool all = true; // asks all of them
    for (const std::uint32_t peer : op.channel->info.topology.far())
      all &= credit(op, peer);
    return all;
  }

  // A message to a far member; `retired` rides along.
  transport::started send(channel& on, std::uint32_t member, transport::message m,
                          std::span<const std::byte> payload, transport::completion& done) {
    complete(on, m);
    if (credit_question& q = on.questions[member]; q.due) [[unlikely]]
      mention(q, m);
    return net.send(on.info.world[member], m, payload.data(), payload.size(), done);
  }
  // One that no operation waits for. False for want of memory.
  bool tell(channel& on, std::uint32_t member, transport::message m,
            std::span<const std::byte> payload = {}) {
    complete(on, m);
    return notices_.send(on.info.world[member], m, payload);
  }

  // What another rank waits for.
  void answer(channel& on, std::uint32_t member, transport::message m,
              std::span<const std::byte> payload = {}) {
    if (!tell(on, member, m, payload)) [[unlikely]]
      engine::end_out_of_memory("an answer to another rank");
  }

  // My row of operation n, as it was published.
  void tell_row(channel& on, std::uint32_t member, engine::sequence n) {
    const named_block& row = on.rows[engine::slot_of(n)].row;
    answer(on, member, {.kind = transport::message_kind::payload, .seq = n},
           std::as_bytes(std::span(&row, 1)));
  }

  // After facts were stored for near members.
  [[gnu::always_inline]] void wake_near() {
    if (!broken_.never_ring) neighbours_.wake();
  }
  // By a thread that waits and has nothing to do, or stops driving.
  bool ring_ready() { return !broken_.never_ring && neighbours_.ring_ready(); }
  neighbours<T>& node() { return neighbours_; }
  notices<T>& unasked() { return notices_; }

  // Where a barrier's value of a round lies.
  static std::byte* value_place(const engine::mailbox& b, std::uint32_t cells, std::uint32_t round) {
    return b.body(cells) + round * sizeof(barrier_summary);
  }

  void copy(void* to, const void* from, std::uint64_t bytes) {
    if (to != from) net.copy(to, from, bytes);
  }

  bool ignores_credit() const { return broken_.ignore_credit; }

private:
  std::byte* boxes(channel& on, std::uint32_t member) {
    return base(on, member) + on.info.mailbox_offset + engine::boxes_offset(on.info.topology);
  }
  void complete(const channel& on, transport::message& m) {
    m.channel = on.info.id;
    m.source = net.rank();
    m.retired = on.told();
    counts.messages_sent.add();
  }

  [[gnu::cold, gnu::noinline]] void connect(channel& on, std::uint32_t member) {
    if (member == on.info.me()) {
      on.mailboxes[member] = on.own;
    } else if (std::byte* memory = base(on, member)) {
      on.mailboxes[member] = {memory + on.info.mailbox_offset, on.info.topology.locals()};
    } else {
      on.mailboxes[member] = on.shadows[member].view();
    }
  }

  // One question to a member is open at a time. An early operation may need less than a late one has asked
  // for, and the member may not come so far without it: then it asks again. Of several questions the member
  // answers the least, once; whatever is still needed is asked for again then.
  void ask_for_credit(channel& on, std::uint32_t member, engine::sequence wanted) {
    engine::sequence& asked = on.questions[member].asked;
    if (asked > on.credit[member].retired && asked <= wanted) return;
    if (tell(on, member, {.kind = transport::message_kind::wanted, .seq = wanted}))
      asked = wanted;
    else
      later = true;
  }

  // Once for each answer.
  static void mention_credit(channel& on, std::uint32_t member, engine::sequence wanted) {
    credit_question& q = on.questions[member];
    if (q.mentioned > on.credit[member].retired) return;
    q.mentioned = wanted;
    q.due = true;
  }
  static void mention(credit_question& q, transport::message& m) {
    const engine::sequence before = m.seq - q.mentioned;
    if (before == 0 || before > engine::slots) return; // it is not about a later operation
    m.wants = static_cast<std::uint8_t>(before);
    q.due = false;
  }

  const faults broken_;
  neighbours<T> neighbours_;
  notices<T> notices_;
};

} // namespace weft::progress
