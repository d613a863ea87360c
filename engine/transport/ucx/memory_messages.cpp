// SPDX-License-Identifier: BSD-3-Clause
#include "engine/transport/ucx/memory_messages.hpp"

#include "engine/transport/ucx/links.hpp"

namespace weft::transport::ucx {

memory_messages::parcel* memory_messages::take(std::uint32_t peer, effect what) noexcept {
  parcel* const p = parcels_.take();
  if (p == nullptr) return nullptr;
  std::unique_ptr<std::byte[]> kept = std::move(p->packed);
  *p = {};
  p->packed = std::move(kept);
  p->head.job_key = options_.job_key;
  p->head.version = wire_version;
  p->head.source = options_.rank;
  p->head.what = what;
  p->peer = peer;
  p->owner = this;
  return p;
}

started memory_messages::submit(parcel& p) noexcept {
  if (const int wrong = links_.ready(p.peer); wrong != 0) [[unlikely]]
    return started::failure(wrong);
  p.head.arrived = static_cast<std::uint32_t>(arrived(p.peer));
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  param.cb.send = sent;
  param.user_data = &p;
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  void* const request = ucp_am_send_nbx(links_[p.peer].endpoint, memory_message_id, &p.head, sizeof p.head,
                                        p.payload, p.bytes, &param);
  if (UCS_PTR_IS_ERR(request)) [[unlikely]]
    return started::failure(UCS_PTR_STATUS(request));
  shortage_.over();
  told(p.peer);
  if (UCS_PTR_IS_PTR(request)) {
    if (p.of != nullptr) ++p.of->in_use;
    return started::on_its_way();
  }
  give_back(p);
  return started::at_its_end();
}

int memory_messages::send(parcel* p, std::uint32_t peer) noexcept {
  const started came = p == nullptr ? started::failure(no_memory) : submit(*p);
  if (!came.failed()) [[likely]]
    return 0;
  const int status = came.status();
  if (p != nullptr) give_back(*p);
  if (status == no_memory)
    again(peer);
  else
    fail_later(peer, status);
  return status;
}

void memory_messages::sent(void* request, ucs_status_t status, void* user) noexcept {
  parcel& p = *static_cast<parcel*>(user);
  memory_messages& self = *p.owner;
  source* const of = p.of;
  ucp_request_free(request);
  if (status != UCS_OK) self.fail_later(p.peer, status);
  self.give_back(p);
  if (of == nullptr) return;
  if (status != UCS_OK) of->status = status;
  if (--of->in_use == 0) of->released(*of);
}

void memory_messages::refuse(std::uint32_t peer) noexcept {
  state& s = states_[peer];
  if (s.refuses) s.refuses = send(take(peer, effect::refused), peer) == no_memory;
}

} // namespace weft::transport::ucx
