// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/linked_items.hpp"
#include "progress/execution/reach.hpp"

#include <cstring>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace weft::progress {

// Blocks of members of a host for all of another one, in one message; see bundles.hpp.
//
//   retired (8 bytes), whose blocks follow (a bit for each member of the sending host, in whole words), their
//   blocks, `count` bytes for each
struct bundle : transport::completion {
  void* owner = nullptr;
  bundle* next = nullptr; // in the list of the free or of the unsent
  channel* on = nullptr;
  engine::sequence seq = 0;
  std::uint32_t to = 0, part = 0; // the member; bytes of each member's blocks
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
  static bool is_sound(const transport::message& m, std::span<const std::byte> payload, std::uint32_t members,
                       std::uint64_t room) {
    if (payload.size() < front_bytes(members) || std::uint64_t{m.count} * members > room) return false;
    std::size_t parts = 0;
    for (std::uint32_t k = 0; k < members; ++k)
      parts += has(payload, k);
    return front_bytes(members) + parts * m.count == payload.size();
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
    if (b == nullptr || !has_room(*b, front + engine::bundle_box::room(g))) [[unlikely]] {
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
    b->size = front;
    std::memset(b->bytes.data(), 0, b->size);
    std::memcpy(b->bytes.data(), &retired, sizeof retired);
    return b;
  }

  void send(bundle& b) {
    const transport::message m{.kind = b.as, .count = b.part, .seq = b.seq};
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
