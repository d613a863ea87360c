// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/linked_items.hpp"
#include "engine/transport/transport.hpp"
#include "engine/transport/ucx/links.hpp"

#include <cstdint>

namespace weft::transport::ucx {

// Large puts and gets of UCX's own, cut. UCX carries what goes through shared memory within the call that
// starts it, however long that takes; and no other rank is served meanwhile. So a large transfer is queued,
// and carry() starts a piece of it: one, if that was carried at once, else as many as keep a network busy.
// The transfers take turns. A flush behind puts that are not all started waits for them here.
//
// Under progress ownership. Ends of transfers are told from carry() and from the transport's poll, never from
// put(), get() or flush().
class cut_transfers {
public:
  static constexpr std::uint64_t piece_bytes = 128 * 1024;

  explicit cut_transfers(links& peers) : links_(peers) {}
  cut_transfers(const cut_transfers&) = delete;
  cut_transfers& operator=(const cut_transfers&) = delete;

  started get(std::uint32_t peer, void* to, std::uint64_t from, std::uint64_t bytes,
              completion& done) noexcept;
  started put(std::uint32_t peer, std::uint64_t to, const void* from, std::uint64_t bytes,
              completion& done) noexcept;
  started flush(std::uint32_t peer, completion& done) noexcept;

  // Returns how many bytes it has carried or started.
  std::uint64_t carry() noexcept { return idle() ? 0 : carry_on(); }
  // There is nothing that carry() could start now.
  bool idle() const noexcept { return queue_.empty() || under_way_ >= most_under_way; }

private:
  static constexpr std::uint32_t most_under_way = 8; // pieces

  enum class kind : std::uint8_t { get, put, flush };

  struct transfer : completion { // of the piece that UCX has
    completion* whole = nullptr;
    cut_transfers* owner = nullptr;
    std::byte* local = nullptr;
    std::uint64_t remote = 0;
    std::uint64_t left = 0;   // bytes that have not been started
    std::uint64_t number = 0; // in the order of the calls
    std::uint32_t peer = 0;
    std::uint32_t under_way = 0; // pieces
    kind what = kind::get;
    int status = 0;
    transfer* next = nullptr;
  };

  started start(kind what, std::uint32_t peer, std::byte* local, std::uint64_t remote, std::uint64_t bytes,
                completion& done) noexcept;
  started queue(kind what, std::uint32_t peer, std::byte* local, std::uint64_t remote, std::uint64_t bytes,
                completion& done) noexcept;
  std::uint64_t carry_on() noexcept;
  started start_next(transfer& t) noexcept;
  void end_if_over(transfer& t) noexcept;
  bool has_puts_before(const transfer& flush) const noexcept;
  static void piece_ended(completion* c, int status) noexcept;

  links& links_;
  engine::fifo<transfer> queue_; // those that are not all started
  std::uint32_t queued_puts_ = 0;
  std::uint32_t under_way_ = 0; // pieces
  std::uint64_t last_number_ = 0;
  engine::item_pool<transfer> transfers_;
};

} // namespace weft::transport::ucx
