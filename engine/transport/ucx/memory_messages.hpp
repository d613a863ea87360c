// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/linked_items.hpp"
#include "engine/out_of_memory.hpp"
#include "engine/transport/transport.hpp"
#include "engine/transport/ucx/links.hpp"

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace weft::transport::ucx {

// What a message about another rank's memory is for; see remote_memory.
enum class effect : std::uint16_t { put, ask, acknowledge, get, data, refused };

struct memory_header {
  std::uint64_t job_key;
  std::uint32_t version;
  std::uint32_t source;
  effect what;
  std::uint16_t asks;    // of a put: not 0 if a rank waits to hear of it; of a get: how many rows
  std::uint32_t arrived; // of the target's puts, as a load, cut off
  std::uint64_t bytes;
  std::uint64_t at;    // in the target's segment
  std::uint64_t name;  // of a get; of a put of rows: the bytes of each
  std::uint64_t place; // of the piece in it; of rows, which come in one: how far their beginnings are apart
};

inline constexpr unsigned memory_message_id = 8;

// Fits into one segment of UCX's sockets, its headers and ours included.
inline constexpr std::uint64_t piece_bytes = 128 * 1024;

// Only so much is on its way to or from one peer, or other messages would wait behind megabytes. Counted in
// bytes, and some for each piece: they cost something even if they are small.
inline constexpr std::uint64_t most_under_way = 512 * 1024;
constexpr std::uint64_t load_of(std::uint64_t bytes, std::uint64_t pieces = 1) noexcept {
  return bytes + pieces * 64;
}

// The messages of remote_memory on their way out, and what its two sides, puts and gets, share of a peer: how
// much of the peer's puts has arrived here, which every message says; whether it has failed; and whether
// there is something left to do for it. Under progress ownership.
class memory_messages {
public:
  // Memory of the user's or of the segment that messages read: until UCX has sent them all.
  struct source {
    std::uint32_t in_use = 0; // messages that UCX still reads
    int status = 0;
    void (*released)(source&) = nullptr;
  };

  // A message that UCX may not have sent yet.
  struct parcel {
    memory_header head{};
    const std::byte* payload = nullptr;
    std::uint64_t bytes = 0;
    source* of = nullptr;                // what the payload is part of, if a rank waits for that
    std::unique_ptr<std::byte[]> packed; // rows that are the payload; stays in the pool
    std::uint32_t peer = 0;
    memory_messages* owner = nullptr;
    parcel* next = nullptr;
  };

  memory_messages(const options& o, links& peers, std::span<std::byte> segment)
      : options_(o), links_(peers), segment_(segment), states_(o.size) {}
  memory_messages(const memory_messages&) = delete;
  memory_messages& operator=(const memory_messages&) = delete;

  // The place in the segment that a peer's message means; null, and the peer will be refused, if it is not in
  // it.
  std::byte* place(std::uint32_t peer, std::uint64_t at, std::uint64_t bytes) noexcept {
    if (at <= segment_.size() && bytes <= segment_.size() - at) [[likely]]
      return segment_.data() + at;
    states_[peer].refuses = true;
    mark(peer);
    return nullptr;
  }

  // Null if there is no memory for another one.
  parcel* take(std::uint32_t peer, effect what) noexcept;
  void give_back(parcel& p) noexcept { parcels_.give_back(p); }
  // If it fails the parcel is still the caller's.
  started submit(parcel& p) noexcept;
  // 0, or why not: for want of memory it is to be tried again, else all that is under way with this peer
  // fails.
  int send(parcel* p, std::uint32_t peer) noexcept;
  // Tells the peer that it has asked for what is not there, if it has.
  void refuse(std::uint32_t peer) noexcept;

  // Of the peer's puts, as a load.
  std::uint64_t arrived(std::uint32_t peer) const noexcept { return states_[peer].arrived; }
  void arrives(std::uint32_t peer, std::uint64_t load) noexcept { states_[peer].arrived += load; }
  // How much of it the peer does not know.
  std::uint64_t untold(std::uint32_t peer) const noexcept {
    return states_[peer].arrived - states_[peer].told;
  }
  void told(std::uint32_t peer) noexcept { states_[peer].told = states_[peer].arrived; }

  // 0, or why all that is under way with the peer fails.
  int failed(std::uint32_t peer) const noexcept { return states_[peer].failed; }
  void fail_later(std::uint32_t peer, int status) noexcept {
    state& s = states_[peer];
    if (s.failed == 0) s.failed = status;
    mark(peer);
  }

  // Something is left to do for this peer; or to do again, for want of memory.
  void mark(std::uint32_t peer) noexcept {
    state& s = states_[peer];
    if (std::exchange(s.busy, true)) return;
    s.next = busy_;
    busy_ = &s;
  }
  void again(std::uint32_t peer) noexcept {
    shortage_.met("a transfer");
    mark(peer);
  }
  bool idle() const noexcept { return busy_ == nullptr; }
  // Calls `serve` for each peer that is marked now; returns how many.
  template <class Serve> unsigned each_marked(Serve&& serve) noexcept {
    unsigned count = 0;
    for (state* s = std::exchange(busy_, nullptr); s != nullptr; ++count) {
      state* const next = s->next;
      s->busy = false;
      serve(static_cast<std::uint32_t>(s - states_.data()));
      s = next;
    }
    return count;
  }

private:
  struct state {
    std::uint64_t arrived = 0;
    std::uint64_t told = 0;
    int failed = 0;
    bool refuses = false;
    bool busy = false;
    state* next = nullptr; // of those that are marked
  };

  static void sent(void* request, ucs_status_t status, void* user) noexcept;

  const options& options_;
  links& links_;
  std::span<std::byte> segment_;
  std::vector<state> states_;
  state* busy_ = nullptr;
  engine::item_pool<parcel> parcels_;
  engine::shortage shortage_;
};

} // namespace weft::transport::ucx
