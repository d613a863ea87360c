// SPDX-License-Identifier: BSD-3-Clause
#include "engine/transport/ucx/transport.hpp"

#include "engine/out_of_memory.hpp"
#include "engine/transport/transport.hpp"
#include "engine/transport/ucx/links.hpp"
#include "engine/transport/ucx/remote_memory.hpp"

#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace weft::transport::ucx {

static_assert(transport<ucx_transport>);
static_assert(no_memory == UCS_ERR_NO_MEMORY && unreachable == UCS_ERR_UNREACHABLE);

namespace {

constexpr unsigned message_id = 7;

ucp_request_param_t watched_by(completion& done, ucp_send_nbx_callback_t callback) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = callback;
  param.user_data = &done;
  return param;
}

} // namespace

ucx_transport::ucx_transport(options o)
    : options_(watched(std::move(o))), context_(open_context(options_)),
      segment_(context_.context.get(), options_.segment_bytes), worker_(make_worker(context_)),
      links_(options_, worker_.get(), !context_.reaches_memory),
      memory_(options_, links_, {segment_.base(), segment_.bytes()}), cut_(links_) {
  receive_messages(worker_.get(), message_id, received, this);
  memory_.open(worker_.get());
  check(ucp_worker_get_efd(worker_.get(), &event_fd_), "cannot wait for events of UCX");
  links_[options_.rank].direct = segment_.base();
  keep_private();
  use_asymmetric_fences();
}

// What is under way with a rank that is lost ends too.
options ucx_transport::watched(options o) {
  o.on_loss = [this, tell = std::move(o.on_loss)](std::uint32_t rank) {
    memory_.lose(rank);
    tell(rank);
  };
  return o;
}

ucx_transport::~ucx_transport() {
  close([] { return true; });
}

bool ucx_transport::close(const std::function<bool()>& goes_on) {
  links_.shut();
  set_sink(nullptr);
  if (!goes_on()) return false;
  std::vector<void*> flushing = links_.close();
  while (!flushing.empty()) {
    if (poll() == 0) yield(); // the others may need the core to answer
    std::erase_if(flushing, [](void* request) {
      if (ucp_request_check_status(request) == UCS_INPROGRESS) return false;
      ucp_request_free(request);
      return true;
    });
    if (!flushing.empty() && !goes_on()) return false;
  }
  return true;
}

std::vector<std::byte> ucx_transport::card() const {
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  check(ucp_worker_get_address(worker_.get(), &address, &bytes), "cannot get the address of the UCX worker");
  const address_ptr owner(address, {worker_.get()});
  const auto* const first = reinterpret_cast<const std::byte*>(address);
  const ucx::card own{.by_messages = !context_.reaches_memory,
                      .base = reinterpret_cast<std::uintptr_t>(segment_.base()),
                      .system_v_id = segment_.system_v_id(),
                      .address = {first, first + bytes},
                      .key = segment_.packed_key()};
  return packed(own);
}

const char* ucx_transport::explain(int status) noexcept {
  return ucs_status_string(static_cast<ucs_status_t>(status));
}

started ucx_transport::settle(void* request) noexcept {
  if (UCS_PTR_IS_PTR(request)) return started::on_its_way();
  if (!UCS_PTR_IS_ERR(request)) return started::at_its_end();
  return started::failure(UCS_PTR_STATUS(request));
}

void ucx_transport::abandon(std::uint32_t peer) noexcept {
  links_.abandon(peer);
  memory_.lose(peer);
}

started ucx_transport::get(std::uint32_t peer, void* to, std::uint64_t from, std::uint64_t bytes,
                           completion& done) noexcept {
  if (bytes == 0) return started::at_its_end();
  if (const int broken = links_.ready(peer); broken != 0) [[unlikely]]
    return started::failure(broken);
  const link& l = links_[peer];
  if (!l.by_ucx) return memory_.gets().get(peer, to, from, bytes, done);
  return cut_.get(peer, to, from, bytes, done);
}

started ucx_transport::put(std::uint32_t peer, std::uint64_t to, const void* from, std::uint64_t bytes,
                           completion& done) noexcept {
  if (bytes == 0) return started::at_its_end();
  if (const int broken = links_.ready(peer); broken != 0) [[unlikely]]
    return started::failure(broken);
  const link& l = links_[peer];
  if (!l.by_ucx) return memory_.puts().put(peer, to, from, bytes, done);
  return cut_.put(peer, to, from, bytes, done);
}

started ucx_transport::push(std::uint32_t peer, std::uint64_t to, const void* from, std::uint64_t bytes,
                            completion& done) noexcept {
  if (bytes == 0 || links_[peer].by_ucx) return put(peer, to, from, bytes, done);
  if (const int broken = links_.ready(peer); broken != 0) [[unlikely]]
    return started::failure(broken);
  return memory_.puts().push(peer, to, from, bytes, done);
}

started ucx_transport::flush(std::uint32_t peer, completion& done) noexcept {
  if (const int broken = links_.ready(peer); broken != 0) [[unlikely]]
    return started::failure(broken);
  const link& l = links_[peer];
  if (!l.by_ucx) return memory_.puts().flush(peer, done);
  return cut_.flush(peer, done);
}

started ucx_transport::order(std::uint32_t peer, completion& done) noexcept {
  if (links_[peer].by_ucx) return flush(peer, done);
  if (const int broken = links_.ready(peer); broken != 0) [[unlikely]]
    return started::failure(broken);
  return memory_.puts().order(peer, done);
}

// Null if there is no memory for another one.
ucx_transport::outgoing* ucx_transport::take_outgoing() noexcept {
  if (free_ == nullptr) {
    try {
      outgoing& fresh = messages_.emplace_back();
      fresh.owner = this;
      return &fresh;
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }
  outgoing* o = free_;
  free_ = o->next_free;
  return o;
}

void ucx_transport::sent(void* request, ucs_status_t status, void* user) noexcept {
  auto* o = static_cast<outgoing*>(user);
  completion* done = o->done;
  ucp_request_free(request);
  o->owner->give_back(o);
  done->done(done, status);
}

started ucx_transport::send(std::uint32_t peer, const message& m, const void* payload, std::uint64_t bytes,
                            completion& done) noexcept {
  if (links_.is_shut()) [[unlikely]]
    return started::at_its_end();
  if (const int broken = links_.ready(peer); broken != 0) [[unlikely]]
    return started::failure(broken);
  outgoing* o = take_outgoing();
  if (o == nullptr) [[unlikely]]
    return started::failure(no_memory);
  o->header = {options_.job_key, wire_version, memory_.arrived(peer), m};
  o->done = &done;
  ucp_request_param_t param = watched_by(done, sent);
  param.user_data = o;
  param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  void* request = ucp_am_send_nbx(links_[peer].endpoint, message_id, &o->header, sizeof o->header, payload,
                                  bytes, &param);
  if (!UCS_PTR_IS_ERR(request)) memory_.told(peer);
  if (UCS_PTR_IS_PTR(request)) return started::on_its_way();
  give_back(o);
  return settle(request);
}

// A ring that cannot be sent is no error: no thread sleeps for long without looking.
void ucx_transport::ring(std::uint32_t peer) noexcept {
  message m;
  m.kind = message_kind::ring;
  m.source = options_.rank;
  static_cast<void>(send(peer, m, nullptr, 0, unwatched_));
}

ucs_status_t ucx_transport::received(void* self, const void* header, std::size_t header_bytes, void* data,
                                     std::size_t bytes, const ucp_am_recv_param_t* param) noexcept {
  auto* t = static_cast<ucx_transport*>(self);
  wire_header h;
  if (header_bytes != sizeof h) return UCS_OK;
  if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) return UCS_OK; // no rank of us sends such
  std::memcpy(&h, header, sizeof h);
  if (h.job_key != t->options_.job_key || h.version != wire_version) return UCS_OK;
  t->memory_.puts().hear(h.m.source, h.arrived);
  if (t->sink_ == nullptr) return UCS_OK;
  try {
    t->sink_->on_message(h.m, {static_cast<const std::byte*>(data), bytes});
  } catch (...) { // nothing may be thrown through UCX
    engine::end_out_of_memory("a message that has come");
  }
  return UCS_OK;
}

std::vector<silent_socket> ucx_transport::end_silent_connections() {
  std::vector<silent_socket> silent = silent_sockets(event_fd_);
  for (const silent_socket& s : silent)
    shutdown(s.descriptor, SHUT_RDWR);
  return silent;
}

void ucx_transport::nap(std::chrono::nanoseconds limit) {
  pollfd watched{event_fd_, POLLIN, 0};
  ::poll(&watched, 1, static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(limit).count()));
}

} // namespace weft::transport::ucx
