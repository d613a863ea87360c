// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/linked_items.hpp"
#include "progress/execution/operation.hpp"
#include "progress/execution/reach.hpp"

#include <cstring>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace weft::progress {

using box_layout = engine::bundle_box::layout;

// How the blocks of an operation lie in boxes.
inline box_layout layout_of(const graph::plan& p) {
  if (!p.unequal) return box_layout::equal;
  if (p.pairs == graph::pattern::all_pairs) return box_layout::large;
  return p.pairs == graph::pattern::to_root ? box_layout::of_each : box_layout::of_one;
}
// The operations that have the large places of boxes have them in turn, on all members alike.
inline void take_large_place(operation& op) {
  channel& on = *op.channel;
  if (layout_of(*op.program) != box_layout::large) return;
  op.large_place = on.large_place;
  op.before_there = std::exchange(on.in_large_places[on.large_place], op.seq);
  on.large_place = (on.large_place + 1) % engine::bundle_box::large_places;
}
// The operation whose blocks lay where those of this one are to lie; 0: none did.
inline engine::sequence before(const operation& op) {
  if (layout_of(*op.program) == box_layout::large) return op.before_there;
  return op.seq <= engine::slots ? 0 : op.seq - engine::slots;
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
  std::vector<std::byte> bytes; // room for the longest; as many are sent:
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
    if (layout_of(m) == box_layout::equal) return m.count;
    std::uint32_t bytes = 0;
    if (rest.size() >= sizeof bytes) std::memcpy(&bytes, rest.data(), sizeof bytes);
    return std::max<std::uint64_t>(bytes, sizeof bytes);
  }
  static bool is_sound(const transport::message& m, std::span<const std::byte> payload, std::uint32_t members,
                       const graph::topology& g) {
    using box = engine::bundle_box;
    const box_layout l = layout_of(m);
    const bool equal = l == box_layout::equal;
    if (l > box_layout::large || payload.size() < front_bytes(members)) return false;
    if (equal ? std::uint64_t{m.count} * members > box::room(g) : m.count != box::part_room(g, l))
      return false;
    if (m.round >= box::large_places) return false;
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
    std::memset(b->bytes.data(), 0, b->size);
    std::memcpy(b->bytes.data(), &retired, sizeof retired);
    return b;
  }

  void send(bundle& b) {
    const transport::message m{.kind = b.as,
                               .phase = static_cast<std::uint8_t>(b.as_blocks),
                               .round = static_cast<std::uint8_t>(b.large_place),
                               .count = b.part,
                               .seq = b.seq};
    const transport::started came = members_.send(*b.on, b.to, m, {b.bytes.data(), b.size}, b);
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
    if (b.bytes.size() >= bytes) [[likely]]
      return true;
    try {
      b.bytes.resize(bytes);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
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
