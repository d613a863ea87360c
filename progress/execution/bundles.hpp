// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/item_pool.hpp"
#include "engine/plan/resolve.hpp"
#include "progress/execution/operation.hpp"
#include "progress/execution/reach.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace weft::progress {

// Small blocks to other hosts under IN_MY, sent together (engine/bundle_box.hpp says where they lie).
//
// A member that has entered takes the turn of its host, if no other one has it. Then it sends to each other
// host what all members of its own that have entered have for it and have not sent, in one message: it reads
// their sources, which IN_MY allows from their entry on. What comes later goes with the next message. No step
// waits for a member that has not entered. The turn is held for as long as it takes to pack and send, never
// while waiting: whoever finds it taken tries again at its next sweep, unless the other has sent its blocks
// as well. So few messages leave when members come together, and a late one sends its own.
//
// The engine of the member that leads towards the sender's host puts what comes into the box there, whether
// its rank has entered or not; the members take their blocks out of it. With each message goes how far all
// members of the sending host have retired: that is the credit of the other direction. A host that sends
// nothing is asked, each member for itself, by whoever needs the credit.
//
//   message   retired (8 bytes), whose blocks follow (a bit for each member of the sending host, in whole
//             words), their blocks, `count` bytes for each
//
// Orders. Packing comes before the store (release) of `sent`, by which the owner of the source knows that it
// has been read. The turn passes from one to the next by CAS (acquire-release) and store (release). In the
// box the blocks come before their stamp (release).
//
// Under progress ownership; requests end within the transport's poll, where nothing is sent: what failed is
// looked at in the next sweep (`reach::later`).
template <transport::transport T> class bundles {
public:
  using failed_handler = std::function<void(channel&, engine::sequence, const transport::failure&)>;

  explicit bundles(reach<T>& members) : net_(members.net), members_(members) {}
  bundles(const bundles&) = delete;
  void report(failed_handler failed) { failed_ = std::move(failed); }

  // The blocks of this rank for the peer's host.
  outcome send(operation& op, const graph::node& n, std::uint32_t peer) {
    channel& on = *op.channel;
    const graph::topology& g = on.info.topology;
    const std::uint32_t slot = engine::slot_of(op.seq);
    const engine::bundle_box box = members_.box(on, g.host(peer));
    engine::word& mine = box.sent(slot, g.local_index(g.me()));
    if (net_.load(mine) >= op.seq) return outcome::done;
    if (!has_credit(on, op.seq, g.host(peer), box)) return outcome::blocked;
    engine::word& turn = members_.turn(on, slot);
    std::uint64_t nobodys = 0;
    if (net_.load(turn) == 0 && net_.cas(turn, nobodys, 1)) {
      send_for_host(op, n);
      net_.store(turn, 0);
    }
    if (net_.load(mine) >= op.seq) return outcome::done;
    members_.later = true;
    return outcome::blocked;
  }
  // Could it be sent now?
  bool can_send(operation& op, std::uint32_t peer) {
    const std::uint32_t there = op.channel->info.topology.host(peer);
    return is_credited(members_.box(*op.channel, there), op.seq);
  }

  void arrived(channel& on, std::uint32_t sender, const transport::message& m,
               std::span<const std::byte> payload) {
    const graph::topology& g = on.info.topology;
    const std::uint32_t there = g.host(sender), members = g.members(there);
    if (g.is_near(sender) || graph::leader_towards(g, g.host(g.me()), there) != g.me()) return;
    const std::size_t front = front_bytes(members);
    if (payload.size() < front) return;
    std::uint64_t retired = 0;
    std::memcpy(&retired, payload.data(), sizeof retired);
    if (!is_sound(m, payload, members, engine::bundle_box::room(g))) return;
    const engine::bundle_box box = members_.box(on, there);
    const std::uint32_t slot = engine::slot_of(m.seq);
    lift(box.retired(), retired);
    const std::byte* from = payload.data() + front;
    for (std::uint32_t k = 0; k < members; ++k) {
      if (!has(payload, k)) continue;
      engine::word& stamp = box.stamp(slot, k);
      if (net_.load(stamp) < m.seq) { // else once more
        net_.copy(box.blocks(slot) + std::size_t{k} * m.count, from, m.count);
        net_.store(stamp, m.seq);
      }
      from += m.count;
    }
    members_.wake_near();
  }

  // What could not be sent is sent again, for want of memory; else its operation has failed.
  [[gnu::cold, gnu::noinline]] void carry_on() {
    bundle* b = std::exchange(unsent_, nullptr);
    while (b != nullptr) {
      bundle& it = *b;
      b = it.next;
      if (it.on->lost != channel::nobody) {
        all_.give_back(it);
      } else if (it.status == transport::no_memory) {
        send(it);
      } else {
        failed_(*it.on, it.seq, {it.status, it.on->info.world[it.to]});
        all_.give_back(it);
      }
    }
  }

  std::size_t in_flight() const { return in_flight_; }

private:
  struct bundle : transport::completion {
    bundles* owner = nullptr;
    bundle* next = nullptr; // in the list of the free or of the unsent
    channel* on = nullptr;
    engine::sequence seq = 0;
    std::uint32_t to = 0, part = 0; // the member; bytes of each member's blocks
    int status = 0;
    std::vector<std::byte> bytes; // room for the longest; as many are sent:
    std::size_t size = 0;
  };

  static std::size_t bit_words(std::uint32_t members) { return (members + 63) / 64; }
  static std::size_t front_bytes(std::uint32_t members) {
    return sizeof(std::uint64_t) * (1 + bit_words(members));
  }
  static bool has(std::span<const std::byte> payload, std::uint32_t member) {
    return (std::to_integer<unsigned>(payload[sizeof(std::uint64_t) + member / 8]) >> member % 8 & 1) != 0;
  }
  static bool is_sound(const transport::message& m, std::span<const std::byte> payload, std::uint32_t members,
                       std::uint64_t room) {
    std::size_t parts = 0;
    for (std::uint32_t k = 0; k < members; ++k)
      parts += has(payload, k);
    return std::uint64_t{m.count} * members <= room &&
           front_bytes(members) + parts * m.count == payload.size();
  }

  bool is_credited(const engine::bundle_box& box, engine::sequence n) {
    return n <= engine::slots || net_.load(box.retired()) + engine::slots >= n || members_.ignores_credit();
  }
  // Asks the members of the other host, if need be.
  bool has_credit(channel& on, engine::sequence n, std::uint32_t there, const engine::bundle_box& box) {
    if (is_credited(box, n)) [[likely]]
      return true;
    const graph::topology& g = on.info.topology;
    engine::sequence least = n;
    bool all = true;
    for (std::uint32_t k = 0; k < g.members(there); ++k) {
      const std::uint32_t member = g.in_host_order(g.first(there) + k);
      all &= members_.exact_credit(on, n, member);
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
  void send_for_host(operation& op, const graph::node& n) {
    const graph::topology& g = op.channel->info.topology;
    const std::uint32_t others = g.hosts() - 1;
    bool for_others = false;
    for (unsigned round = 0; round != 2; ++round) {
      look_who_entered(op);
      bool sent = false;
      for (std::uint32_t k = 0; k < others; ++k) {
        const std::uint32_t ahead = 1 + (k + g.local_index(g.me())) % others;
        sent |= send_to(op, n, (g.host(g.me()) + ahead) % g.hosts());
      }
      for_others |= sent && entered_.size() != 1;
      if (!sent) break;
    }
    if (for_others) members_.wake_near();
  }
  void look_who_entered(operation& op) {
    channel& on = *op.channel;
    const graph::topology& g = on.info.topology;
    entered_.clear();
    retired_ = on.retired;
    for (std::uint32_t k = 0; k < g.locals(); ++k) {
      const std::uint32_t member = g.local(k);
      if (member == g.me() || members_.entered(op, member)) entered_.push_back(k);
      if (member != g.me()) retired_ = std::min(retired_, net_.load(members_.view(on, member).retired()));
    }
  }

  // True if there was something to be sent.
  bool send_to(operation& op, const graph::node& n, std::uint32_t there) {
    channel& on = *op.channel;
    const graph::topology& g = on.info.topology;
    const engine::bundle_box box = members_.box(on, there);
    const std::uint32_t slot = engine::slot_of(op.seq);
    if (!is_credited(box, op.seq)) return false;
    const auto waits = [&](std::uint32_t local) { return net_.load(box.sent(slot, local)) < op.seq; };
    if (std::ranges::none_of(entered_, waits)) return false;
    bundle* const b = begin(on, op.seq);
    if (b == nullptr) [[unlikely]]
      return false;
    b->to = graph::leader_towards(g, there, g.host(g.me()));
    const graph::place& in_message = op.program->places[n.write.at];
    b->part = static_cast<std::uint32_t>(in_message.bytes * (in_message_of_each(n) ? g.members(there) : 1));
    for (const std::uint32_t local : entered_)
      if (waits(local)) {
        pack(op, n, g.local(local), *b);
        net_.store(box.sent(slot, local), op.seq);
      }
    send(*b);
    return true;
  }
  static bool in_message_of_each(const graph::node& n) { return n.of == graph::blocks::to_host; }

  // Null for want of memory: at a later sweep, then.
  bundle* begin(channel& on, engine::sequence n) {
    const graph::topology& g = on.info.topology;
    bundle* const b = all_.take();
    if (b == nullptr || !has_room(*b, front_bytes(g.locals()) + engine::bundle_box::room(g))) [[unlikely]] {
      if (b != nullptr) all_.give_back(*b);
      members_.later = true;
      return nullptr;
    }
    b->owner = this;
    b->done = [](transport::completion* c, int status) {
      auto& sent = *static_cast<bundle*>(c);
      --sent.owner->in_flight_;
      sent.owner->settle(sent, status);
    };
    b->on = &on;
    b->seq = n;
    b->size = front_bytes(g.locals());
    std::memset(b->bytes.data(), 0, b->size);
    std::memcpy(b->bytes.data(), &retired_, sizeof retired_);
    return b;
  }
  static bool has_room(bundle& b, std::size_t bytes) noexcept {
    if (b.bytes.size() >= bytes) [[likely]]
      return true;
    try {
      b.bytes.resize(bytes);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  void pack(operation& op, const graph::node& n, std::uint32_t member, bundle& b) {
    const graph::topology& g = op.channel->info.topology;
    const std::uint32_t local = g.local_index(member);
    b.bytes[sizeof(std::uint64_t) + local / 8] |= std::byte{1} << local % 8;
    const std::byte* const from = members_.base(*op.channel, member) + op.at.src;
    std::byte* const to = b.bytes.data() + b.size;
    const graph::action a{g.me(), b.to, member, b.to, 0};
    graph::each_region(*op.program, g, n, a,
                       [&](const graph::region& r) { net_.copy(to + r.write, from + r.read, r.bytes); });
    b.size += b.part;
  }

  void send(bundle& b) {
    const transport::message m{.kind = transport::message_kind::bundle, .count = b.part, .seq = b.seq};
    const transport::started came = members_.send(*b.on, b.to, m, {b.bytes.data(), b.size}, b);
    if (came.under_way())
      ++in_flight_;
    else
      settle(b, came.status());
  }
  void settle(bundle& b, int status) noexcept {
    if (status >= 0) [[likely]]
      return all_.give_back(b);
    b.status = status;
    b.next = std::exchange(unsent_, &b);
    members_.later = true;
  }

  T& net_;
  reach<T>& members_;
  weft::engine::item_pool<bundle> all_;
  bundle* unsent_ = nullptr;
  std::size_t in_flight_ = 0;
  std::vector<std::uint32_t> entered_; // of my host, who had when it was last looked at, by number there
  engine::sequence retired_ = 0;       // and all of them had retired
  failed_handler failed_;
};

} // namespace weft::progress
