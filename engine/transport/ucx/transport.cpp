#include "engine/transport/ucx/transport.hpp"

#include "engine/transport/transport.hpp"

#include <cstdlib>
#include <cstring>
#include <poll.h>

namespace weft::transport::ucx {

static_assert(transport<ucx_transport>);

namespace {

constexpr unsigned message_id = 7;
constexpr std::uint32_t wire_version = 1;

// On one host no network transport is opened, so nobody can connect from outside; a user's own UCX_TLS wins.
context_ptr make_context(bool one_host) {
  ucp_config_t* raw = nullptr;
  check(ucp_config_read(nullptr, nullptr, &raw), "cannot read the UCX configuration");
  const config_ptr config(raw);
  if (one_host && std::getenv("UCX_TLS") == nullptr)
    check(ucp_config_modify(raw, "TLS", "self,sysv,posix,cma"), "cannot choose the UCX transports");
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_RMA | UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  params.name = "weft";
  ucp_context_h context = nullptr;
  check(ucp_init(&params, raw, &context), "cannot start UCX");
  return context_ptr(context);
}

worker_ptr make_worker(ucp_context_h context) {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_EVENTS;
  params.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  params.events = UCP_WAKEUP_RMA | UCP_WAKEUP_RX | UCP_WAKEUP_TX;
  ucp_worker_h worker = nullptr;
  check(ucp_worker_create(context, &params, &worker), "cannot create the UCX worker");
  return worker_ptr(worker);
}

void append(std::vector<std::byte>& card, const void* data, std::size_t bytes) {
  const std::uint64_t length = bytes;
  const auto* l = reinterpret_cast<const std::byte*>(&length);
  card.insert(card.end(), l, l + sizeof length);
  const auto* d = static_cast<const std::byte*>(data);
  card.insert(card.end(), d, d + bytes);
}

// The fields of a card in order: each a length and its bytes.
class card_reader {
public:
  explicit card_reader(const std::vector<std::byte>& card) : card_(card) {}
  std::span<const std::byte> next() {
    std::uint64_t length = 0;
    if (at_ + sizeof length > card_.size()) throw std::runtime_error("a rank's card is too short");
    std::memcpy(&length, card_.data() + at_, sizeof length);
    at_ += sizeof length;
    if (length > card_.size() - at_) throw std::runtime_error("a rank's card is too short");
    const std::span field(card_.data() + at_, length);
    at_ += length;
    return field;
  }

private:
  const std::vector<std::byte>& card_;
  std::size_t at_ = 0;
};

ucp_request_param_t watched_by(completion& done, ucp_send_nbx_callback_t callback) {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = callback;
  param.user_data = &done;
  return param;
}

} // namespace

ucx_transport::ucx_transport(options o)
    : options_(std::move(o)), context_(make_context(options_.one_host)),
      segment_(context_.get(), options_.segment_bytes), worker_(make_worker(context_.get())),
      links_(options_.size) {
  ucp_am_handler_param_t handler{};
  handler.field_mask =
      UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = message_id;
  handler.cb = received;
  handler.arg = this;
  check(ucp_worker_set_am_recv_handler(worker_.get(), &handler), "cannot receive active messages");
  check(ucp_worker_get_efd(worker_.get(), &event_fd_), "cannot wait for events of UCX");
  links_[options_.rank].direct = segment_.base();
  keep_private();
  use_asymmetric_fences();
}

ucx_transport::~ucx_transport() {
  disconnect();
}

void ucx_transport::disconnect() {
  for (link& l : links_) {
    l.rkey.reset();
    if (l.endpoint == nullptr) continue;
    void* request = ucp_ep_close_nb(l.endpoint, UCP_EP_CLOSE_MODE_FLUSH);
    l.endpoint = nullptr;
    if (!UCS_PTR_IS_PTR(request)) continue;
    while (ucp_request_check_status(request) == UCS_INPROGRESS)
      poll();
    ucp_request_free(request);
  }
}

std::vector<std::byte> ucx_transport::card() const {
  ucp_address_t* address = nullptr;
  std::size_t bytes = 0;
  check(ucp_worker_get_address(worker_.get(), &address, &bytes), "cannot get the address of the UCX worker");
  std::vector<std::byte> card;
  const std::uint64_t base = reinterpret_cast<std::uintptr_t>(segment_.base());
  append(card, &wire_version, sizeof wire_version);
  append(card, &base, sizeof base);
  append(card, address, bytes);
  const std::vector<std::byte> key = segment_.packed_key();
  append(card, key.data(), key.size());
  ucp_worker_release_address(worker_.get(), address);
  return card;
}

ucx_transport::link& ucx_transport::connect(std::uint32_t peer) {
  const std::vector<std::byte> card = options_.card_of(peer);
  card_reader fields(card);
  std::uint32_t version = 0;
  const auto their_version = fields.next();
  std::memcpy(&version, their_version.data(), std::min(sizeof version, their_version.size()));
  if (version != wire_version)
    throw std::runtime_error("rank " + std::to_string(peer) + " speaks wire version " +
                             std::to_string(version) + ", this rank " + std::to_string(wire_version) +
                             "; start all ranks with the same library");
  link& l = links_[peer];
  std::memcpy(&l.remote_base, fields.next().data(), sizeof l.remote_base);
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  params.address = reinterpret_cast<const ucp_address_t*>(fields.next().data());
  const std::string whom = "rank " + std::to_string(peer);
  check(ucp_ep_create(worker_.get(), &params, &l.endpoint), "cannot connect to " + whom);
  ucp_rkey_h rkey = nullptr;
  check(ucp_ep_rkey_unpack(l.endpoint, fields.next().data(), &rkey),
        "cannot unpack the remote key of " + whom);
  l.rkey.reset(rkey);
  if (options_.near[peer]) {
    void* direct = nullptr;
    check(ucp_rkey_ptr(rkey, l.remote_base, &direct),
          "cannot map the memory of " + whom + " on this node; set WEFT_LANE=ucp");
    l.direct = static_cast<std::byte*>(direct);
  }
  return l;
}

void ucx_transport::completed(void* request, ucs_status_t status, void* user) {
  auto* done = static_cast<completion*>(user);
  ucp_request_free(request);
  done->done(done, status);
}

// True if there is nothing to wait for; an error at once is an error of the operation.
bool ucx_transport::settle(void* request) {
  if (UCS_PTR_IS_PTR(request)) return false;
  if (!UCS_PTR_IS_ERR(request)) return true;
  throw ucx_error("a transfer could not be started", UCS_PTR_STATUS(request));
}

bool ucx_transport::get(std::uint32_t peer, void* to, std::uint64_t from, std::uint64_t bytes,
                        completion& done) {
  if (bytes == 0) return true;
  const link& l = linked(peer);
  const ucp_request_param_t param = watched_by(done, completed);
  return settle(ucp_get_nbx(l.endpoint, to, bytes, l.remote_base + from, l.rkey.get(), &param));
}

bool ucx_transport::put(std::uint32_t peer, std::uint64_t to, const void* from, std::uint64_t bytes,
                        completion& done) {
  if (bytes == 0) return true;
  const link& l = linked(peer);
  const ucp_request_param_t param = watched_by(done, completed);
  return settle(ucp_put_nbx(l.endpoint, from, bytes, l.remote_base + to, l.rkey.get(), &param));
}

bool ucx_transport::flush(std::uint32_t peer, completion& done) {
  const ucp_request_param_t param = watched_by(done, completed);
  return settle(ucp_ep_flush_nbx(linked(peer).endpoint, &param));
}

ucx_transport::outgoing* ucx_transport::take_outgoing() {
  if (free_ == nullptr) {
    outgoing& fresh = messages_.emplace_back();
    fresh.owner = this;
    return &fresh;
  }
  outgoing* o = free_;
  free_ = o->next_free;
  return o;
}

void ucx_transport::sent(void* request, ucs_status_t status, void* user) {
  auto* o = static_cast<outgoing*>(user);
  completion* done = o->done;
  ucp_request_free(request);
  o->owner->give_back(o);
  done->done(done, status);
}

bool ucx_transport::send(std::uint32_t peer, const message& m, const void* payload, std::uint64_t bytes,
                         completion& done) {
  outgoing* o = take_outgoing();
  o->header = {options_.job_key, wire_version, 0, m};
  o->done = &done;
  ucp_request_param_t param = watched_by(done, sent);
  param.user_data = o;
  param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  void* request = ucp_am_send_nbx(linked(peer).endpoint, message_id, &o->header, sizeof o->header, payload,
                                  bytes, &param);
  if (UCS_PTR_IS_PTR(request)) return false;
  give_back(o);
  return settle(request);
}

void ucx_transport::ring(std::uint32_t peer) {
  message m;
  m.kind = message_kind::ring;
  m.source = options_.rank;
  send(peer, m, nullptr, 0, unwatched_);
}

ucs_status_t ucx_transport::received(void* self, const void* header, std::size_t header_bytes, void* data,
                                     std::size_t bytes, const ucp_am_recv_param_t*) {
  auto* t = static_cast<ucx_transport*>(self);
  wire_header h;
  if (header_bytes != sizeof h || t->sink_ == nullptr) return UCS_OK;
  std::memcpy(&h, header, sizeof h);
  if (h.job_key != t->options_.job_key || h.version != wire_version) return UCS_OK;
  t->sink_->on_message(h.m, {static_cast<const std::byte*>(data), bytes});
  return UCS_OK;
}

void ucx_transport::nap(std::chrono::nanoseconds limit) {
  pollfd watched{event_fd_, POLLIN, 0};
  ::poll(&watched, 1, static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(limit).count()));
}

} // namespace weft::transport::ucx
