// SPDX-License-Identifier: BSD-3-Clause
#include "engine/transport/ucx/remote_memory.hpp"

#include "engine/transport/ucx/context.hpp"
#include "engine/transport/ucx/links.hpp"

#include <cstring>

namespace weft::transport::ucx {

void remote_memory::open(ucp_worker_h worker) {
  receive_messages(worker, memory_message_id, received, this);
}

ucs_status_t remote_memory::received(void* self, const void* head, std::size_t head_bytes, void* data,
                                     std::size_t bytes, const ucp_am_recv_param_t* param) noexcept {
  auto& m = *static_cast<remote_memory*>(self);
  memory_header h;
  if (head_bytes != sizeof h) return UCS_OK;
  if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) return UCS_OK; // no rank of us sends such
  std::memcpy(&h, head, sizeof h);
  if (h.job_key != m.options_.job_key || h.version != wire_version || h.source >= m.options_.size)
    return UCS_OK;
  m.puts_.hear(h.source, h.arrived);
  m.take_in(h, {static_cast<const std::byte*>(data), bytes});
  return UCS_OK;
}

void remote_memory::take_in(const memory_header& h, std::span<const std::byte> payload) noexcept {
  switch (h.what) {
  case effect::put:
    puts_.land(h, payload);
    break;
  case effect::ask:
    puts_.await(h.source);
    break;
  case effect::acknowledge:
    break; // all messages do
  case effect::get:
    gets_.write_down(h);
    break;
  case effect::data:
    gets_.arrive(h, payload);
    break;
  case effect::refused:
    messages_.fail_later(h.source, UCS_ERR_INVALID_ADDR);
    break;
  }
}

unsigned remote_memory::serve_all() noexcept {
  return messages_.each_marked([this](std::uint32_t peer) { serve(peer); });
}

// What others wait for comes first; they may do so although what this rank began with them has failed.
void remote_memory::serve(std::uint32_t peer) noexcept {
  puts_.acknowledge(peer);
  messages_.refuse(peer);
  if (messages_.failed(peer) == 0) gets_.issue(peer);
  gets_.answer(peer);
  if (messages_.failed(peer) == 0) puts_.issue(peer);
  if (const int why = messages_.failed(peer); why != 0) [[unlikely]] {
    puts_.fail(peer, why);
    gets_.fail(peer, why);
  }
}

} // namespace weft::transport::ucx
