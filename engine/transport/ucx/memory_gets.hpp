// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/fifo.hpp"
#include "engine/transport/ucx/memory_messages.hpp"

namespace weft::transport::ucx {

// Gets over messages: one `wanted` for each piece; `piece` comes back, straight out of the target's segment.
// Of what is wanted only so much is on its way; the rest waits in the transfer, which knows how far it has
// come. A message that asks is only written down by its handler, and answered from serve().
class memory_gets {
public:
  memory_gets(memory_messages& messages, std::uint32_t peers) : messages_(messages), states_(peers) {}
  memory_gets(const memory_gets&) = delete;
  memory_gets& operator=(const memory_gets&) = delete;

  started get(std::uint32_t peer, void* to, std::uint64_t from, std::uint64_t bytes,
              completion& done) noexcept;

  // Messages of a peer.
  void write_down(const memory_header& wanted) noexcept;
  void arrive(const memory_header& piece, std::span<const std::byte> payload) noexcept;

  // What may go now: what this rank asks for, and what it is asked for.
  void issue(std::uint32_t peer) noexcept;
  void answer(std::uint32_t peer) noexcept;
  // All that this rank asked for.
  void fail(std::uint32_t peer, int status) noexcept;

private:
  struct transfer {
    completion* done = nullptr; // null: over
    std::byte* local = nullptr;
    std::uint64_t remote = 0;
    std::uint64_t bytes = 0;
    std::uint64_t gone = 0; // has been asked for
    std::uint64_t arrived = 0;
    std::uint64_t name = 0; // index and generation: an answer that is late finds nobody
    std::uint32_t peer = 0;
    transfer* next = nullptr;
  };
  struct state {
    std::uint64_t under_way = 0; // asked for, and not here
    engine::fifo<transfer> gets;
    engine::fifo<memory_messages::parcel> answers;
  };

  transfer* take() noexcept;
  void end(transfer& t, int status) noexcept;

  memory_messages& messages_;
  std::vector<state> states_;
  engine::item_pool<transfer> transfers_;
};

} // namespace weft::transport::ucx
