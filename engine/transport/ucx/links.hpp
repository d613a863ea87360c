// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/transport/transport.hpp"
#include "engine/transport/ucx/context.hpp"
#include "engine/transport/ucx/handles.hpp"
#include "engine/zeroed_table.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::transport::ucx {

constexpr std::uint32_t wire_version = 9;

// What others need to know of a rank to reach it: published through the job before any rank connects.
struct card {
  std::uint32_t version = wire_version;
  bool by_messages = true; // its memory is not to be reached by UCX's put and get
  std::uint64_t base = 0;  // of its segment
  int system_v_id = -1;    // of its segment, if it is one of System V
  std::vector<std::byte> address;
  std::vector<std::byte> key; // of its segment
};

std::vector<std::byte> packed(const card& c);
// Throws std::runtime_error if the bytes are none. Of another version, only the version is read.
card unpacked_card(std::span<const std::byte> bytes);

struct card;
class links;

// What this rank knows of another one's connection and memory.
struct link {
  static constexpr bool is_made_of_zeros = true;
  std::byte* direct = nullptr;
  ucp_ep_h endpoint = nullptr;
  rkey_ptr rkey; // for the lanes that need one: loads and stores, and put and get by UCX
  std::uint64_t remote_base = 0;
  links* of = nullptr; // whose connection it is: told to UCX with the endpoint
  bool met = false;
  bool by_ucx = false; // its memory is reached by put and get of UCX, else by messages; its card says so
  bool lost = false;   // broken or abandoned; the memory, once mapped, stays
};

// The connections to all other ranks, each made on first use. Under progress ownership, as the transport is.
class links {
public:
  links(const options& o, ucp_worker_h worker, bool by_messages);

  link& operator[](std::uint32_t peer) noexcept { return all_[peer]; }
  const link& operator[](std::uint32_t peer) const noexcept { return all_[peer]; }

  // Connects to a peer, or throws what is wrong with it.
  void connect(std::uint32_t peer);
  // 0, or the status of what is wrong with it.
  int try_connect(std::uint32_t peer) noexcept;
  // 0 if the peer's link may be used, or why not.
  int ready(std::uint32_t peer) noexcept {
    const link& l = all_[peer];
    if (l.met && l.endpoint != nullptr) [[likely]]
      return 0;
    return l.lost ? static_cast<int>(UCS_ERR_NOT_CONNECTED) : try_connect(peer);
  }
  void abandon(std::uint32_t peer) noexcept;
  // Nothing can be sent to it any more: told to the options' on_loss, once.
  void report_loss(std::uint32_t peer) noexcept;

  // No rank is connected to from now on.
  void shut() noexcept { shut_ = true; }
  bool is_shut() const noexcept { return shut_; }
  // Ends all connections in order: what has to be waited for.
  std::vector<void*> close();

private:
  void unpack_key(std::uint32_t peer, const card& theirs);
  static void broken(void* self, ucp_ep_h endpoint, ucs_status_t status) noexcept;

  const options& options_;
  ucp_worker_h worker_;
  bool by_messages_;
  bool shut_ = false;
  engine::zeroed_table<link> all_;
};

} // namespace weft::transport::ucx
