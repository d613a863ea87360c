// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/out_of_memory.hpp"
#include "engine/transport/transport.hpp"
#include "engine/transport/ucx/memory_messages.hpp"
#include "engine/transport/ucx/memory_transfers.hpp"

namespace weft::transport::ucx {

// Puts, gets and flushes over active messages, for networks that cannot reach memory by themselves. (UCX
// would do the same inside, but for each rank that knows its address, and it ends the process if a rank that
// it has to answer is dead.) All messages carry the key of the job. See memory_puts and memory_gets for what
// is sent.
//
// What a message asks for is only written down by its handler; serve() does it after UCX has made progress,
// and calls none but completions. Transfers and messages come from pools that keep what they had.
class remote_memory {
public:
  remote_memory(const options& o, links& peers, std::span<std::byte> segment)
      : options_(o), messages_(o, peers, segment), puts_(messages_, o.size), gets_(messages_, o.size) {}
  remote_memory(const remote_memory&) = delete;
  remote_memory& operator=(const remote_memory&) = delete;

  // Answers others from now on.
  void open(ucp_worker_h worker);

  memory_puts& puts() noexcept { return puts_; }
  memory_gets& gets() noexcept { return gets_; }

  // How much of a peer's puts has arrived, for the header of a message to it; told when it has been sent.
  std::uint32_t arrived(std::uint32_t peer) const noexcept {
    return static_cast<std::uint32_t>(messages_.arrived(peer));
  }
  void told(std::uint32_t peer) noexcept { messages_.told(peer); }

  // All that is under way with this peer fails at the next serve().
  void lose(std::uint32_t peer) noexcept { messages_.fail_later(peer, UCS_ERR_CONNECTION_RESET); }
  // What messages have left to do; returns how many peers there were to do something for.
  unsigned serve() noexcept { return idle() ? 0 : serve_all(); }
  bool idle() const noexcept { return messages_.idle(); }

private:
  unsigned serve_all() noexcept;
  void serve(std::uint32_t peer) noexcept;
  static ucs_status_t received(void* self, const void* head, std::size_t head_bytes, void* data,
                               std::size_t bytes, const ucp_am_recv_param_t* param) noexcept;
  void take_in(const memory_header& h, std::span<const std::byte> payload) noexcept;

  const options& options_;
  memory_messages messages_;
  memory_puts puts_;
  memory_gets gets_;
};

} // namespace weft::transport::ucx
