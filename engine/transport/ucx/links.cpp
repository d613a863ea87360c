// SPDX-License-Identifier: BSD-3-Clause
#include "engine/transport/ucx/links.hpp"

#include "engine/transport/ucx/segment.hpp"

#include <cstring>
#include <stdexcept>
#include <utility>

namespace weft::transport::ucx {

namespace {

void append(std::vector<std::byte>& card, const void* data, std::size_t bytes) {
  const std::uint64_t length = bytes;
  const std::size_t begin = card.size();
  card.resize(begin + sizeof length + bytes);
  std::memcpy(card.data() + begin, &length, sizeof length);
  if (bytes != 0) std::memcpy(card.data() + begin + sizeof length, data, bytes);
}

// The fields of a card in order: each a length and its bytes.
class card_reader {
public:
  explicit card_reader(std::span<const std::byte> card) : card_(card) {}

  std::vector<std::byte> next() {
    std::uint64_t length = 0;
    take(&length, sizeof length);
    if (length > card_.size()) refuse();
    std::vector<std::byte> field(length);
    take(field.data(), length);
    return field;
  }
  template <class Value> Value value() {
    const std::vector<std::byte> field = next();
    Value v;
    if (field.size() != sizeof v) refuse();
    std::memcpy(&v, field.data(), sizeof v);
    return v;
  }

private:
  [[noreturn]] static void refuse() { throw std::runtime_error("a rank's card is too short"); }
  void take(void* to, std::size_t bytes) {
    if (bytes > card_.size()) refuse();
    if (bytes != 0) std::memcpy(to, card_.data(), bytes);
    card_ = card_.subspan(bytes);
  }
  std::span<const std::byte> card_;
};

} // namespace

std::vector<std::byte> packed(const card& c) {
  std::vector<std::byte> bytes;
  append(bytes, &c.version, sizeof c.version);
  append(bytes, &c.by_messages, sizeof c.by_messages);
  append(bytes, &c.base, sizeof c.base);
  append(bytes, &c.system_v_id, sizeof c.system_v_id);
  append(bytes, c.address.data(), c.address.size());
  append(bytes, c.key.data(), c.key.size());
  return bytes;
}

card unpacked_card(std::span<const std::byte> bytes) {
  card_reader fields(bytes);
  card c;
  c.version = fields.value<std::uint32_t>();
  if (c.version != wire_version) return c;
  c.by_messages = fields.value<bool>();
  c.base = fields.value<std::uint64_t>();
  c.system_v_id = fields.value<int>();
  c.address = fields.next();
  c.key = fields.next();
  return c;
}

links::links(const options& o, ucp_worker_h worker, bool by_messages)
    : options_(o), worker_(worker), by_messages_(by_messages), all_(o.size) {}

void links::connect(std::uint32_t peer) {
  if (shut_) throw std::logic_error("the transport is closed: rank " + std::to_string(peer) + " is gone");
  const card theirs = unpacked_card(options_.card_of(peer));
  const std::string its_name = "rank " + std::to_string(peer);
  if (theirs.version != wire_version)
    throw std::runtime_error(its_name + " speaks wire version " + std::to_string(theirs.version) +
                             ", this rank " + std::to_string(wire_version) +
                             "; start all ranks with the same library");
  link& l = all_[peer];
  l.remote_base = theirs.base;
  l.by_ucx = !by_messages_ && !theirs.by_messages;
  l.of = this;
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler = {broken, &l};
  params.address = reinterpret_cast<const ucp_address_t*>(theirs.address.data());
  if (l.endpoint == nullptr && !l.by_ucx && !options_.reaches(peer))
    throw ucx_error("cannot reach " + its_name, UCS_ERR_UNREACHABLE);
  if (l.endpoint == nullptr)
    check(ucp_ep_create(worker_, &params, &l.endpoint), "cannot connect to " + its_name);
  const bool near = options_.near[peer];
  if (near || l.by_ucx) unpack_key(peer, theirs);
  if (near && l.direct == nullptr) {
    void* direct = nullptr;
    check(ucp_rkey_ptr(l.rkey.get(), l.remote_base, &direct),
          "cannot map the memory of " + its_name + " on this node; set WEFT_LANE=ucp");
    l.direct = static_cast<std::byte*>(direct);
  }
  l.met = true;
}

// A rank of this host may have died by now, and its memory with it. UCX cannot unpack a key of memory that is
// gone: UCX 1.13 then ends keys that it never made, and the process. Held, the memory stays until it is
// mapped.
void links::unpack_key(std::uint32_t peer, const card& theirs) {
  const std::string its_name = "rank " + std::to_string(peer);
  const bool on_this_host = options_.near[peer] && theirs.system_v_id >= 0;
  const held_segment memory(on_this_host ? theirs.system_v_id : -1);
  if (on_this_host && !memory)
    throw ucx_error("the memory of " + its_name + " is gone", UCS_ERR_NOT_CONNECTED);
  ucp_rkey_h rkey = nullptr;
  check(ucp_ep_rkey_unpack(all_[peer].endpoint, theirs.key.data(), &rkey),
        "cannot unpack the remote key of " + its_name);
  all_[peer].rkey.reset(rkey);
}

int links::try_connect(std::uint32_t peer) noexcept {
  try {
    connect(peer);
    return 0;
  } catch (const ucx_error& e) {
    if (e.status == UCS_ERR_UNREACHABLE) report_loss(peer);
    return e.status;
  } catch (const std::bad_alloc&) {
    return no_memory;
  } catch (...) {
    return unreachable;
  }
}

void links::broken(void* whose_it_was, ucp_ep_h, ucs_status_t) noexcept {
  const link& l = *static_cast<const link*>(whose_it_was);
  l.of->report_loss(static_cast<std::uint32_t>(l.of->all_.index(l)));
}

void links::report_loss(std::uint32_t peer) noexcept {
  link& l = all_[peer];
  if (l.lost) return;
  l.lost = true;
  options_.on_loss(peer);
}

void links::abandon(std::uint32_t peer) noexcept {
  link& l = all_[peer];
  l.lost = true;
  if (l.endpoint == nullptr) return;
  void* request = ucp_ep_close_nb(std::exchange(l.endpoint, nullptr), UCP_EP_CLOSE_MODE_FORCE);
  if (UCS_PTR_IS_PTR(request)) ucp_request_free(request);
}

std::vector<void*> links::close() {
  std::vector<void*> flushing;
  for (link& l : all_) {
    l.rkey.reset();
    if (l.endpoint == nullptr) continue;
    void* request = ucp_ep_close_nb(std::exchange(l.endpoint, nullptr), UCP_EP_CLOSE_MODE_FLUSH);
    if (UCS_PTR_IS_PTR(request)) flushing.push_back(request);
  }
  return flushing;
}

} // namespace weft::transport::ucx
