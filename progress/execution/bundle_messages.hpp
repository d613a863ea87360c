// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/linked_items.hpp"
#include "progress/execution/operation.hpp"
#include "progress/execution/reach.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace weft::progress {

using box_layout = engine::bundle_box::layout;

// How the blocks of an operation lie in boxes.
inline box_layout layout_of(const graph::plan& p) {
  if (!p.unequal) return p.in_places ? box_layout::large_equal : box_layout::equal;
  if (p.in_places) return box_layout::large;
  return p.pairs == graph::pattern::to_root ? box_layout::of_each : box_layout::of_one;
}
// Bytes of a member's equal blocks for a host with so many members.
inline std::uint64_t equal_part(const graph::plan& p, std::uint64_t members) {
  return p.block() * (p.places[graph::in_source].to == 0 ? 1 : members);
}
// Those of longer blocks, which have large places, of all members of my host.
inline std::uint64_t to_pack(const operation& op, std::uint32_t there) {
  const graph::topology& g = op.channel->info.topology;
  const bool longer = layout_of(*op.program) == box_layout::large_equal;
  return longer ? equal_part(*op.program, g.members(there)) * g.locals() : 0;
}
// The operations that have large places of boxes have them in turn, on all members alike: the next one, or
// the next two of which the first is even.
inline void take_large_places(operation& op) {
  using box = engine::bundle_box;
  const graph::plan& p = *op.program;
  if (!p.in_places) [[likely]]
    return;
  channel& on = *op.channel;
  const graph::topology& g = on.info.topology;
  const std::uint64_t places = p.unequal ? 1 : box::places(g, equal_part(p, g.largest_host()));
  static_assert(box::most_places == 2 && box::large_places % 2 == 0);
  op.large_place =
      static_cast<std::uint32_t>((on.large_place + places - 1) / places * places % box::large_places);
  op.before_there = 0;
  for (std::uint64_t k = 0; k != places; ++k)
    op.before_there =
        std::max(op.before_there, std::exchange(on.in_large_places[op.large_place + k], op.seq));
  on.large_place = static_cast<std::uint32_t>(op.large_place + places) % box::large_places;
}
// The last operation whose blocks lay where those of this one are to lie, or whose stamps are where its own
// are; 0: none.
inline engine::sequence before(const operation& op) {
  const engine::sequence in_slot = op.seq <= engine::slots ? 0 : op.seq - engine::slots;
  return op.program->in_places ? std::max(op.before_there, in_slot) : in_slot;
}

// Blocks of members of a host for all of another one, in one message; see bundles.hpp.
//
//   retired (8 bytes), whose blocks follow (a bit for each member of the sending host, in whole words), their
//   blocks, `count` bytes for each; unequal ones begin with their bytes, in 4 of them, and have room for
//   `count`
struct bundle : transport::completion {
  void* owner = nullptr;
  bundle* next = nullptr; // in the list of the free or of the unsent
  channel* on = nullptr;
  engine::sequence seq = 0;
  std::uint32_t to = 0, part = 0; // the member; bytes of each member's blocks
  box_layout as_blocks = box_layout::equal;
  std::uint32_t large_place = 0;
  transport::message_kind as = transport::message_kind::bundle;
  int status = 0;
  std::unique_ptr<std::byte[]> bytes; // not touched before they are written: so many,
  std::size_t room = 0;               // of which as many are sent:
  std::size_t size = 0;

  // The member's blocks are among them.
  void add(std::uint32_t local) { bytes[sizeof(std::uint64_t) + local / 8] |= std::byte{1} << local % 8; }

  static std::size_t front_bytes(std::uint32_t members) {
    return sizeof(std::uint64_t) * (1 + (members + 63) / 64);
  }
  static bool has(std::span<const std::byte> payload, std::uint32_t member) {
    return (std::to_integer<unsigned>(payload[sizeof(std::uint64_t) + member / 8]) >> member % 8 & 1) != 0;
  }
  static box_layout layout_of(const transport::message& m) { return static_cast<box_layout>(m.phase); }
  // Those of a member, of what is left of a message.
  static std::uint64_t part_bytes(const transport::message& m, std::span<const std::byte> rest) {
    if (engine::bundle_box::is_equal(layout_of(m))) return m.count;
    std::uint32_t bytes = 0;
    if (rest.size() >= sizeof bytes) std::memcpy(&bytes, rest.data(), sizeof bytes);
    return std::max<std::uint64_t>(bytes, sizeof bytes);
  }
  static bool is_sound(const transport::message& m, std::span<const std::byte> payload, std::uint32_t members,
                       const graph::topology& g) {
    using box = engine::bundle_box;
    const box_layout l = layout_of(m);
    if (l > box_layout::large_equal || payload.size() < front_bytes(members)) return false;
    if (l == box_layout::equal ? std::uint64_t{m.count} * members > box::room(g)
                               : !box::is_equal(l) && m.count != box::part_room(g, l))
      return false;
    const std::uint64_t places = l == box_layout::large_equal ? box::places(g, m.count) : 1;
    if (m.round >= box::large_places || places > box::large_places - m.round) return false;
    std::span<const std::byte> rest = payload.subspan(front_bytes(members));
    for (std::uint32_t k = 0; k < members; ++k) {
      if (!has(payload, k)) continue;
      const std::uint64_t bytes = part_bytes(m, rest);
      if (bytes > rest.size() || bytes > m.count) return false;
      rest = rest.subspan(bytes);
    }
    return rest.empty();
  }
};

// Those under way. Requests end within the transport's poll, where nothing is sent: what failed is looked at
// in the next sweep (`reach::later`). Under progress ownership.
template <transport::transport T> class bundle_messages {
public:
  using failed_handler = std::function<void(channel&, engine::sequence, const transport::failure&)>;

  explicit bundle_messages(reach<T>& members) : members_(members) {}
  bundle_messages(const bundle_messages&) = delete;
  void report(failed_handler failed) { failed_ = std::move(failed); }

  // Null for want of memory: at a later sweep, then.
  bundle* begin(channel& on, engine::sequence n, engine::sequence retired) {
    const graph::topology& g = on.info.topology;
    bundle* const b = all_.take();
    const std::size_t front = bundle::front_bytes(g.locals());
    if (b == nullptr || !has_room(*b, front + engine::bundle_box::message_room(g))) [[unlikely]] {
      if (b != nullptr) all_.give_back(*b);
      members_.later = true;
      return nullptr;
    }
    b->owner = this;
    b->done = [](transport::completion* c, int status) {
      auto& sent = *static_cast<bundle*>(c);
      auto& of = *static_cast<bundle_messages*>(sent.owner);
      --of.in_flight_;
      of.settle(sent, status);
    };
    b->on = &on;
    b->seq = n;
    b->as = transport::message_kind::bundle;
    b->as_blocks = box_layout::equal;
    b->large_place = 0;
    b->size = front;
    std::memset(b->bytes.get(), 0, b->size);
    std::memcpy(b->bytes.get(), &retired, sizeof retired);
    return b;
  }

  void send(bundle& b) {
    const transport::message m{.kind = b.as,
                               .phase = static_cast<std::uint8_t>(b.as_blocks),
                               .round = static_cast<std::uint8_t>(b.large_place),
                               .count = b.part,
                               .seq = b.seq};
    const transport::started came = members_.send(*b.on, b.to, m, {b.bytes.get(), b.size}, b);
    if (came.under_way())
      ++in_flight_;
    else
      settle(b, came.status());
  }

  // What could not be sent is sent again, for want of memory; else its operation has failed.
  [[gnu::cold, gnu::noinline]] void carry_on() {
    bundle* b = std::exchange(unsent_, nullptr);
    while (b != nullptr) {
      bundle& it = *b;
      b = it.next;
      if (it.on->lost != channel::no_rank) {
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
  static bool has_room(bundle& b, std::size_t bytes) noexcept {
    if (b.room >= bytes) [[likely]]
      return true;
    b.bytes.reset(new (std::nothrow) std::byte[bytes]);
    b.room = b.bytes == nullptr ? 0 : bytes;
    return b.room != 0;
  }
  void settle(bundle& b, int status) noexcept {
    if (status >= 0) [[likely]]
      return all_.give_back(b);
    b.status = status;
    b.next = std::exchange(unsent_, &b);
    members_.later = true;
  }

  reach<T>& members_;
  weft::engine::item_pool<bundle> all_;
  bundle* unsent_ = nullptr;
  std::size_t in_flight_ = 0;
  failed_handler failed_;
};

} // namespace weft::progress
