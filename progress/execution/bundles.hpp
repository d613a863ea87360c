// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/plan/resolve.hpp"
#include "progress/execution/bundle_messages.hpp"
#include "progress/execution/operation.hpp"
#include "progress/execution/reach.hpp"
#include "progress/execution/task_work.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

namespace weft::progress {

// Small blocks to other hosts, sent together (engine/bundle_box.hpp says where they lie).
//
// Under IN_MY a member that has entered takes the turn of its host, if no other one has it. Then it sends to
// each other host what all members of its own that have entered have for it and have not sent, in one
// message: it reads their sources, which IN_MY allows from their entry on. What comes later goes with the
// next message. No step waits for a member that has not entered. The turn is held for as long as it takes to
// pack and send, never while waiting: a member that finds it taken tries again when it is woken, as all are
// when it is free, unless the other has sent its blocks as well. So few messages leave when members come
// together, and a late one sends its own.
//
// The engine of the member that leads towards the sender's host puts what comes into the box there, whether
// its rank has entered or not; the members take their blocks out of it. With each message goes how far all
// members of the sending host have retired: that is the credit of the other direction. A host that sends
// nothing is asked, each member for itself, by a member that needs the credit.
//
// Under IN_NO all sources may be read as soon as one member has entered, and a block must not wait for its
// owner. So a member that misses blocks of another host asks the engine of the member that leads there, once
// for its host; that one packs what all members of its own have, entered or not, and sends it. The box is
// free when all members of the asking host have retired the operation before, which they see themselves.
//
// Of blocks of unequal sizes a member publishes where it has written down which they are; the member that has
// the turn packs what is short, and says of the rest where it is: those that get it bring it themselves. What
// a member has for a host fits into its part of the box, however short its blocks must be for that.
//
// Orders. Packing comes before the store (release) of `sent`, by which the owner of the source knows that it
// has been read. The turn passes from one to the next by CAS (acquire-release) and store (release). In the
// box the blocks come before their stamp (release).
//
// Under progress ownership.
template <transport::transport T> class bundles {
public:
  explicit bundles(reach<T>& members) : net_(members.net), members_(members), messages_(members) {}
  bundles(const bundles&) = delete;
  bundle_messages<T>& messages() { return messages_; }

  // The blocks of this rank for the peer's host.
  outcome send(operation& op, const graph::node& n, std::uint32_t peer) {
    channel& on = *op.channel;
    const graph::topology& g = on.info.topology;
    const std::uint32_t slot = engine::slot_of(op.seq);
    const engine::bundle_box box = members_.box(on, g.host(peer));
    engine::word& mine = box.sent(slot, g.local_index(g.me()));
    if (net_.load(mine) >= op.seq) return outcome::done;
    if (!has_credit(op, g.host(peer), box)) return outcome::blocked;
    if (!members_.carries.allows(to_pack(op, g.host(peer)))) return outcome::held;
    engine::word& turn = members_.turn(on, slot);
    for (std::uint64_t untaken = 0; net_.load(turn) == 0; untaken = 0)
      if (net_.cas(turn, untaken, 1)) {
        send_for_host(op, n);
        net_.store(turn, 0);
        members_.wake_near(); // for what was sent of them, or since they found the turn taken
        break;
      }
    if (net_.load(mine) >= op.seq) return outcome::done;
    members_.later = true;
    return outcome::blocked;
  }
  // A block of the peer out of the box, if it is there; else its host is asked for all.
  outcome bring(operation& op, const graph::node& n, std::uint32_t peer) {
    channel& on = *op.channel;
    const graph::topology& g = on.info.topology;
    const std::uint32_t slot = engine::slot_of(op.seq);
    const engine::bundle_box box = members_.box(on, g.host(peer));
    engine::word& stamp = box.stamp(slot, g.local_index(peer));
    if (net_.load(stamp) < op.seq) {
      if (ask(op, g.host(peer), box)) op.run->watch.note(stamp, op.seq);
      return outcome::blocked;
    }
    const graph::region r = graph::only_region(*op.program, g, n, {g.me(), peer, peer, g.me(), 0});
    const bool of_each = stride(op) != 0;
    const std::uint64_t part = r.bytes * (of_each ? g.locals() : 1);
    const std::uint64_t mine = of_each ? r.bytes * g.local_index(g.me()) : 0;
    net_.copy(net_.segment() + op.at.dst + r.write, box.blocks(slot) + part * g.local_index(peer) + mine,
              r.bytes);
    return outcome::done;
  }
  // Has a host been asked for the blocks of this operation?
  bool has_asked(operation& op, std::uint32_t peer) {
    const std::uint32_t there = op.channel->info.topology.host(peer);
    return net_.load(members_.box(*op.channel, there).asked(engine::slot_of(op.seq))) >= op.seq;
  }
  // The words that say that my blocks have been read for the other hosts that ask for some.
  template <class Visit> void each_read(operation& op, Visit&& visit) {
    const graph::topology& g = op.channel->info.topology;
    const std::uint32_t slot = engine::slot_of(op.seq), mine = g.host(g.me());
    for (std::uint32_t there = 0; there < g.hosts(); ++there)
      if (there != mine && asks(*op.program, g, there))
        visit(there, members_.box(*op.channel, there).sent(slot, g.local_index(g.me())));
  }
  // Of so many readers of my blocks, how many count that: not those to which one comes along.
  std::uint64_t counting(operation& op, std::uint32_t of) {
    const graph::plan& p = *op.program;
    if (p.unequal) return op.at.task->brought(*op.at.task, work_of(op, net_, 0), p.me);
    return of - readers(p, op.channel->info.topology);
  }
  // Does a member count that it has read this block?
  bool counts(operation& op, std::uint32_t owner) {
    return op.program->unequal && op.at.task->brought(*op.at.task, work_of(op, net_, 0), owner) != 0;
  }
  // How many far members take a block of mine, each by its box.
  static std::uint32_t readers(const graph::plan& p, const graph::topology& g) {
    return p.pairs == graph::pattern::to_root ? 1 : static_cast<std::uint32_t>(g.far().size());
  }

  // The engine of another host asks for blocks of mine.
  void answer(channel& on, std::uint32_t sender, const transport::message& m,
              std::span<const std::byte> payload) {
    const graph::topology& g = on.info.topology;
    const std::uint32_t mine = g.host(g.me()), there = g.host(sender);
    question asked;
    if (g.is_near(sender) || graph::leader_towards(g, mine, there) != g.me() ||
        payload.size() != sizeof asked || m.count > engine::bundle_box::room(g))
      return;
    std::memcpy(&asked, payload.data(), sizeof asked);
    const std::uint64_t part = m.count * (asked.stride != 0 ? g.members(there) : std::uint64_t{1});
    if (part * g.locals() > engine::bundle_box::room(g) || !lies_in_segment(asked, m.count, g.size())) return;
    look_for_retired(on);
    bundle* const b = messages_.begin(on, m.seq, retired_);
    if (b == nullptr) [[unlikely]]
      engine::end_out_of_memory("an answer to another rank");
    b->as = transport::message_kind::pulled;
    b->to = graph::leader_towards(g, there, mine);
    b->part = static_cast<std::uint32_t>(part);
    const engine::bundle_box box = members_.box(on, there);
    for (std::uint32_t local = 0; local < g.locals(); ++local)
      if (asked.only == question::all || asked.only == g.local(local)) {
        pack(on, asked, m.count, there, local, *b);
        lift(box.sent(engine::slot_of(m.seq), local), m.seq);
      }
    messages_.send(*b);
    members_.wake_near();
  }

  // Could it be sent now?
  bool can_send(operation& op, std::uint32_t peer) {
    const std::uint32_t there = op.channel->info.topology.host(peer);
    return is_credited(members_.box(*op.channel, there), before(op));
  }

  // A member's blocks for my host, that have come: so many bytes, or unequal ones in so much room.
  const std::byte* in_box(operation& op, std::uint32_t member, std::uint64_t bytes) {
    return members_.part(*op.channel, layout_of(*op.program), engine::slot_of(op.seq), op.large_place, member,
                         bytes);
  }
  std::span<const std::byte> unequal_in_box(operation& op, std::uint32_t member) {
    const std::uint64_t room =
        engine::bundle_box::part_room(op.channel->info.topology, layout_of(*op.program));
    const std::byte* const part = in_box(op, member, room);
    std::uint32_t bytes = 0;
    net_.copy(&bytes, part, sizeof bytes);
    return {part, std::min<std::uint64_t>(bytes, room)};
  }

  void arrived(channel& on, std::uint32_t sender, const transport::message& m,
               std::span<const std::byte> payload) {
    const graph::topology& g = on.info.topology;
    const std::uint32_t there = g.host(sender), members = g.members(there);
    if (g.is_near(sender) || graph::leader_towards(g, g.host(g.me()), there) != g.me()) return;
    if (!bundle::is_sound(m, payload, members, g)) return;
    std::uint64_t retired = 0;
    std::memcpy(&retired, payload.data(), sizeof retired);
    const engine::bundle_box box = members_.box(on, there);
    const std::uint32_t slot = engine::slot_of(m.seq);
    lift(box.retired(), retired);
    std::span<const std::byte> rest = payload.subspan(bundle::front_bytes(members));
    for (std::uint32_t k = 0; k < members; ++k) {
      if (!bundle::has(payload, k)) continue;
      const std::uint64_t bytes = bundle::part_bytes(m, rest);
      engine::word& stamp = box.stamp(slot, k);
      if (net_.load(stamp) < m.seq) { // else once more
        net_.copy(members_.part(on, bundle::layout_of(m), slot, m.round, g.in_host_order(g.first(there) + k),
                                m.count),
                  rest.data(), bytes);
        net_.store(stamp, m.seq);
      }
      rest = rest.subspan(bytes);
    }
    members_.wake_near();
  }

private:
  // Where the blocks lie that a host is asked for, on each member: `stride` further for each receiver, 0 for
  // one block for all. Those of one member alone, or of all.
  struct question {
    static constexpr std::uint64_t all = ~std::uint64_t{0};
    std::uint64_t source = 0, stride = 0, only = all;
  };

  bool lies_in_segment(const question& q, std::uint64_t bytes, std::uint64_t members) const {
    const std::uint64_t all = net_.segment_bytes();
    return bytes <= all && q.source <= all - bytes &&
           (q.stride == 0 || (all - bytes - q.source) / q.stride >= members - 1);
  }

  static std::uint64_t stride(const operation& op) { return op.program->places[graph::in_source].to; }
  // Does that host get blocks of mine, by its box?
  static bool asks(const graph::plan& p, const graph::topology& g, std::uint32_t there) {
    if (p.unequal && p.packed == 0) return false;
    return p.pairs != graph::pattern::to_root || g.host(p.root) == there;
  }
  // Once for my host, when the box is free. True if the other host has been asked.
  bool ask(operation& op, std::uint32_t there, const engine::bundle_box& box) {
    channel& on = *op.channel;
    const graph::topology& g = on.info.topology;
    const graph::plan& p = *op.program;
    engine::word& asked = box.asked(engine::slot_of(op.seq));
    std::uint64_t before = net_.load(asked);
    if (before >= op.seq) return true;
    if (!members_.near_credit(op)) return false;
    while (!net_.cas(asked, before, op.seq))
      if (before >= op.seq) return true;
    const question q{op.at.src + p.places[graph::in_source].base, stride(op),
                     p.pairs == graph::pattern::from_root ? p.root : question::all};
    const transport::message m{
        .kind = transport::message_kind::pull, .count = static_cast<std::uint32_t>(p.block()), .seq = op.seq};
    if (members_.tell(on, graph::leader_towards(g, there, g.host(g.me())), m,
                      std::as_bytes(std::span(&q, 1)))) [[likely]]
      return true;
    net_.store(asked, before);
    members_.later = true;
    return false;
  }
  void pack(channel& on, const question& asked, std::uint32_t bytes, std::uint32_t there, std::uint32_t local,
            bundle& b) {
    const graph::topology& g = on.info.topology;
    b.add(local);
    const std::byte* const from = members_.base(on, g.local(local)) + asked.source;
    std::byte* const to = b.bytes.get() + b.size;
    for (std::uint32_t k = 0; k * std::uint64_t{bytes} < b.part; ++k)
      net_.copy(to + std::uint64_t{k} * bytes, from + g.in_host_order(g.first(there) + k) * asked.stride,
                bytes);
    b.size += b.part;
  }

  bool is_credited(const engine::bundle_box& box, engine::sequence before) {
    return before == 0 || net_.load(box.retired()) >= before || members_.ignores_credit();
  }
  // Asks the members of the other host, if need be.
  bool has_credit(operation& op, std::uint32_t there, const engine::bundle_box& box) {
    if (is_credited(box, before(op))) [[likely]]
      return true;
    channel& on = *op.channel;
    const graph::topology& g = on.info.topology;
    engine::sequence least = op.seq;
    bool all = true;
    for (std::uint32_t k = 0; k < g.members(there); ++k) {
      const std::uint32_t member = g.in_host_order(g.first(there) + k);
      all &= members_.exact_credit(on, op.seq, member, op.seq - before(op));
      least = std::min(least, on.credit[member].retired);
    }
    if (all) lift(box.retired(), least);
    return all;
  }
  void lift(engine::word& w, std::uint64_t value) {
    for (std::uint64_t seen = net_.load(w); seen < value;)
      if (net_.cas(w, seen, value)) return;
  }

  // To all other hosts, beginning with another one than the neighbours do; once more what has come meanwhile.
  // What is more than a pass may carry is left to the next member that takes the turn.
  void send_for_host(operation& op, const graph::node& n) {
    const graph::topology& g = op.channel->info.topology;
    const std::uint32_t others = g.hosts() - 1;
    for (unsigned round = 0; round != 2; ++round) {
      look_for_entered(op, n);
      bool sent = false;
      for (std::uint32_t k = 0; k < others; ++k) {
        const std::uint32_t ahead = 1 + (k + g.local_index(g.me())) % others;
        const std::uint32_t there = (g.host(g.me()) + ahead) % g.hosts();
        const std::uint64_t bytes = asks(*op.program, g, there) ? send_to(op, n, there) : 0;
        sent |= bytes != 0;
        members_.carries.take(bytes);
        if (bytes > quota::always && members_.carries.spent()) return;
      }
      if (!sent) break;
    }
  }
  // A member that has entered may be read. What a task has made of its elements it publishes.
  bool has_blocks(operation& op, const graph::node& n, std::uint32_t member) {
    if (n.read.in != graph::buffer::scratch) return members_.entered(op, member);
    const std::uint32_t cells = engine::cells_of(op.seq, n.phase);
    return net_.load(members_.view(*op.channel, member).head(cells).stamp) >= op.seq;
  }
  // A root alone has something to send.
  void look_for_entered(operation& op, const graph::node& n) {
    channel& on = *op.channel;
    const graph::topology& g = on.info.topology;
    const bool root_alone = op.program->pairs == graph::pattern::from_root;
    entered_.clear();
    for (std::uint32_t k = 0; k < g.locals(); ++k) {
      const std::uint32_t member = g.local(k);
      if (member == g.me() || (!root_alone && has_blocks(op, n, member))) entered_.push_back(k);
    }
    look_for_retired(on);
  }
  void look_for_retired(channel& on) {
    retired_ = on.retired;
    for (const std::uint32_t member : on.info.topology.near())
      retired_ = std::min(retired_, net_.load(members_.view(on, member).retired()));
  }

  // Returns how many bytes were sent.
  std::uint64_t send_to(operation& op, const graph::node& n, std::uint32_t there) {
    channel& on = *op.channel;
    const graph::topology& g = on.info.topology;
    const engine::bundle_box box = members_.box(on, there);
    const std::uint32_t slot = engine::slot_of(op.seq);
    if (!is_credited(box, before(op))) return 0;
    bundle* b = nullptr;
    std::uint64_t sent = 0;
    for (const std::uint32_t local : entered_) {
      if (net_.load(box.sent(slot, local)) >= op.seq) continue;
      if (b != nullptr &&
          b->part > bundle::front_bytes(g.locals()) + engine::bundle_box::message_room(g) - b->size)
        messages_.send(*std::exchange(b, nullptr));
      if (b == nullptr) b = begin(op, n, there);
      if (b == nullptr) [[unlikely]]
        return sent;
      const std::size_t before_it = b->size;
      pack(op, n, g.local(local), *b);
      net_.store(box.sent(slot, local), op.seq);
      sent += b->size - before_it;
    }
    if (b != nullptr) messages_.send(*b);
    return sent;
  }
  // Null for want of memory.
  bundle* begin(operation& op, const graph::node& n, std::uint32_t there) {
    const graph::topology& g = op.channel->info.topology;
    const graph::place& in_message = op.program->places[n.write.at];
    const box_layout l = layout_of(*op.program);
    bundle* const b = messages_.begin(*op.channel, op.seq, retired_);
    if (b == nullptr) [[unlikely]]
      return nullptr;
    b->to = graph::leader_towards(g, there, g.host(g.me()));
    b->as_blocks = l;
    b->large_place = op.large_place;
    b->part = static_cast<std::uint32_t>(engine::bundle_box::is_equal(l)
                                             ? in_message.bytes *
                                                   (n.of == &graph::blocks::to_host ? g.members(there) : 1)
                                             : engine::bundle_box::part_room(g, l));
    return b;
  }

  void pack(operation& op, const graph::node& n, std::uint32_t member, bundle& b) {
    const graph::topology& g = op.channel->info.topology;
    b.add(g.local_index(member));
    std::byte* const to = b.bytes.get() + b.size;
    if (op.program->unequal) {
      b.size += pack_unequal(op, n, member, g.host(b.to), to);
      return;
    }
    b.size += b.part;
    const bool made = n.read.in == graph::buffer::scratch;
    if (made && member != g.me()) {
      const engine::mailbox theirs = members_.view(*op.channel, member);
      return net_.copy(to, theirs.payload(engine::cells_of(op.seq, n.phase), b.part), b.part);
    }
    const std::byte* const from =
        made ? op.run->scratch.data() : members_.base(*op.channel, member) + op.at.src;
    const graph::action a{g.me(), b.to, member, b.to, 0};
    graph::each_region(*op.program, g, n, a,
                       [&](const graph::region& r) { net_.copy(to + r.write, from + r.read, r.bytes); });
  }

  // As its owner has noted where they are: I in my scratch, a neighbour in its payload.
  std::uint64_t pack_unequal(operation& op, const graph::node& n, std::uint32_t member, std::uint32_t there,
                             std::byte* to) {
    const graph::region note = graph::only_region(*op.program, op.channel->info.topology, n,
                                                  {op.program->me, member, op.program->me, member, 0});
    const std::byte* const of =
        member == op.program->me
            ? op.run->scratch.data() + note.read
            : members_.view(*op.channel, member).payload(engine::cells_of(op.seq, n.phase), note.bytes);
    return op.at.task->pack(*op.at.task, work_of(op, net_, 0), member, there, of, to);
  }

  T& net_;
  reach<T>& members_;
  bundle_messages<T> messages_;
  std::vector<std::uint32_t> entered_; // members of my host, at the last look, by number there
  engine::sequence retired_ = 0;       // and all of them had retired
};

} // namespace weft::progress
