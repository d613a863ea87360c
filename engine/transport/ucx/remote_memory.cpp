#include "engine/transport/ucx/remote_memory.hpp"

#include "engine/memory/copy.hpp"
#include "engine/transport/ucx/card.hpp"
#include "engine/transport/ucx/context.hpp"
#include "engine/transport/ucx/incoming.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::transport::ucx {

namespace {

constexpr unsigned memory_message_id = 8;

// Fits into one segment of UCX's sockets, its headers and ours included.
constexpr std::uint64_t piece_bytes = 128 * 1024;

constexpr std::uint64_t pieces_of(std::uint64_t bytes) {
  return (bytes + piece_bytes - 1) / piece_bytes;
}

} // namespace

void remote_memory::open(ucp_worker_h worker) {
  receive_messages(worker, memory_message_id, received, this);
}

// ---- what this rank begins

started remote_memory::begin_put(std::uint32_t peer, std::uint64_t to, const void* from, std::uint64_t bytes,
                                 completion& done, bool pushed) noexcept {
  state& s = states_[peer];
  if (s.failed != 0) [[unlikely]]
    return started::failure(s.failed);
  transfer* const t = begin(kind::put, peer, const_cast<void*>(from), to, bytes); // only read
  if (t == nullptr) [[unlikely]]
    return started::failure(no_memory);
  const bool first = s.puts.empty(); // no other transfer may end in this call
  s.promised += load_of(bytes, pieces_of(bytes));
  t->pushed = pushed;
  t->queued = true;
  s.puts.push(*t);
  if (first) issue_puts(peer);
  return hand_over(*t, done);
}

started remote_memory::get(std::uint32_t peer, void* to, std::uint64_t from, std::uint64_t bytes,
                           completion& done) noexcept {
  state& s = states_[peer];
  if (s.failed != 0) [[unlikely]]
    return started::failure(s.failed);
  transfer* const t = begin(kind::get, peer, to, from, bytes);
  if (t == nullptr) [[unlikely]]
    return started::failure(no_memory);
  s.gets.push(*t);
  issue_gets(peer);
  return hand_over(*t, done);
}

started remote_memory::flush(std::uint32_t peer, completion& done) noexcept {
  state& s = states_[peer];
  static_cast<void>(release(peer)); // what did not go will be tried again
  const started came = follow(kind::flush, peer, s.delivered, s.flushes, done);
  if (came.under_way()) ask(peer);
  return came;
}

started remote_memory::order(std::uint32_t peer, completion& done) noexcept {
  state& s = states_[peer];
  return follow(kind::order, peer, s.gone, s.orders, done);
}

// Behind all that is promised now, of which so much has come as far as this one asks for.
started remote_memory::follow(kind what, std::uint32_t peer, std::uint64_t so_far,
                              engine::fifo<transfer>& others, completion& done) noexcept {
  const state& s = states_[peer];
  if (s.failed != 0) [[unlikely]]
    return started::failure(s.failed);
  if (so_far == s.promised) return started::at_its_end();
  transfer* const t = begin(what, peer, nullptr, 0, 0);
  if (t == nullptr) [[unlikely]]
    return started::failure(no_memory);
  t->target = s.promised;
  others.push(*t);
  return hand_over(*t, done);
}

void remote_memory::end_followers(engine::fifo<transfer>& f, std::uint64_t so_far) noexcept {
  while (!f.empty() && f.front()->target <= so_far)
    end(f.pop(), 0);
}

remote_memory::transfer* remote_memory::begin(kind what, std::uint32_t peer, void* local,
                                              std::uint64_t remote, std::uint64_t bytes) noexcept {
  constexpr std::uint64_t generation = std::uint64_t{1} << 32;
  const bool fresh = !transfers_.has_free();
  transfer* const t = transfers_.take();
  if (t == nullptr) return nullptr;
  const std::uint64_t name = fresh ? transfers_.size() - 1 : t->name + generation;
  *t = {};
  t->local = static_cast<std::byte*>(local);
  t->remote = remote;
  t->bytes = bytes;
  t->name = name;
  t->peer = peer;
  t->what = what;
  t->live = true;
  return t;
}

// What a call returns that began a transfer.
started remote_memory::hand_over(transfer& t, completion& done) noexcept {
  t.done = &done;
  if (!t.ended) return started::on_its_way();
  release(t);
  return started::at_its_end();
}

void remote_memory::end(transfer& t, int status) noexcept {
  t.ended = true;
  if (t.done == nullptr) return; // hand_over() is about to look
  completion& done = *t.done;
  release(t);
  done.done(&done, status);
}

void remote_memory::release(transfer& t) noexcept {
  t.live = false;
  transfers_.give_back(t);
}

// ---- messages out

remote_memory::parcel* remote_memory::take_parcel(std::uint32_t peer, effect what) noexcept {
  parcel* const p = parcels_.take();
  if (p == nullptr) return nullptr;
  *p = {};
  p->head.job_key = options_.job_key;
  p->head.version = wire_version;
  p->head.source = options_.rank;
  p->head.what = what;
  p->peer = peer;
  p->owner = this;
  return p;
}

void remote_memory::give_back(parcel& p) noexcept {
  parcels_.give_back(p);
}

// If it fails the parcel is still the caller's.
started remote_memory::submit(parcel& p) noexcept {
  if (const int wrong = links_.ready(p.peer); wrong != 0) [[unlikely]]
    return started::failure(wrong);
  p.head.arrived = arrived(p.peer);
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  param.cb.send = sent;
  param.user_data = &p;
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  void* const request =
      ucp_am_send_nbx(links_[p.peer].endpoint, memory_message_id, &p.head,
                      p.rides == nullptr ? sizeof(header) : sizeof(envelope), p.payload, p.bytes, &param);
  if (UCS_PTR_IS_ERR(request)) [[unlikely]]
    return started::failure(UCS_PTR_STATUS(request));
  shortage_.over();
  told(p.peer);
  if (UCS_PTR_IS_PTR(request)) {
    if (p.of != nullptr) ++p.of->with_ucx;
    return started::on_its_way();
  }
  give_back(p);
  return started::at_its_end();
}

// 0, or why not: for want of memory it is to be tried again, else all that is under way with this peer fails.
int remote_memory::send(parcel* p, std::uint32_t peer) noexcept {
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

void remote_memory::sent(void* request, ucs_status_t status, void* user) noexcept {
  parcel& p = *static_cast<parcel*>(user);
  remote_memory& self = *p.owner;
  transfer* const t = p.of;
  completion* const rides = p.rides;
  ucp_request_free(request);
  if (status != UCS_OK) self.fail_later(p.peer, status);
  self.give_back(p);
  if (rides != nullptr) rides->done(rides, status);
  if (t == nullptr) return;
  if (status != UCS_OK) t->status = status;
  if (--t->with_ucx == 0 && !t->queued) self.end(*t, t->status);
}

void remote_memory::issue_puts(std::uint32_t peer) noexcept {
  state& s = states_[peer];
  if (release(peer) != 0) return;
  while (!s.puts.empty() && s.gone - s.delivered < most_under_way) {
    transfer& t = *s.puts.front();
    if (issue_piece(peer, t) != 0) return;
    if (t.gone < t.bytes) continue;
    s.puts.pop();
    t.queued = false;
    if (t.with_ucx == 0) end(t, 0);
  }
  end_followers(s.orders, s.gone);
  ask(peer);
}

// 0, or why it did not go.
int remote_memory::issue_piece(std::uint32_t peer, transfer& t) noexcept {
  state& s = states_[peer];
  const std::uint64_t bytes = std::min(piece_bytes, t.bytes - t.gone), load = load_of(bytes);
  const bool last = s.gone + load == s.promised;
  parcel* const p = take_parcel(peer, effect::put);
  if (p != nullptr) {
    p->head.at = t.remote + t.gone;
    p->head.asks = !t.pushed;
    p->payload = t.local + t.gone;
    p->bytes = bytes;
    p->of = &t;
  }
  if (const int wrong = t.pushed && last ? hold(p, peer) : send(p, peer); wrong != 0) return wrong;
  t.gone += bytes;
  s.gone += load;
  if (!t.pushed) s.asked = s.gone;
  return 0;
}

// Until the next message, or serve().
int remote_memory::hold(parcel* p, std::uint32_t peer) noexcept {
  if (p == nullptr) return send(p, peer);
  p->of = nullptr; // whoever waits for the message waits for its source, too
  states_[peer].held = p;
  mark(peer);
  return 0;
}

int remote_memory::release(std::uint32_t peer) noexcept {
  parcel* const p = std::exchange(states_[peer].held, nullptr);
  if (p == nullptr) [[likely]]
    return 0;
  const started came = submit(*p);
  return came.failed() ? keep_or_fail(*p, came.status()) : 0;
}

started remote_memory::ride(std::uint32_t peer, const message& m, completion& done) noexcept {
  parcel* const p = std::exchange(states_[peer].held, nullptr);
  p->rider = m;
  p->rides = &done;
  const started came = submit(*p);
  if (came.failed()) [[unlikely]] {
    p->rides = nullptr;
    keep_or_fail(*p, came.status());
  }
  return came;
}

// What was held back and could not go.
int remote_memory::keep_or_fail(parcel& p, int status) noexcept {
  const std::uint32_t peer = p.peer;
  if (status == no_memory) {
    states_[peer].held = &p;
    again(peer);
  } else {
    give_back(p);
    fail_later(peer, status);
  }
  return status;
}

// Behind the last piece, if a flush waits to hear of one that did not say so.
void remote_memory::ask(std::uint32_t peer) noexcept {
  state& s = states_[peer];
  if (s.flushes.empty() || !s.puts.empty() || s.asked == s.gone) return;
  if (send(take_parcel(peer, effect::tell), peer) == 0) s.asked = s.gone;
}

void remote_memory::issue_gets(std::uint32_t peer) noexcept {
  state& s = states_[peer];
  while (!s.gets.empty() && s.getting < most_under_way) {
    transfer& t = *s.gets.front();
    const std::uint64_t bytes = std::min(piece_bytes, t.bytes - t.gone);
    parcel* const p = take_parcel(peer, effect::wanted);
    if (p != nullptr) {
      p->head.at = t.remote + t.gone;
      p->head.bytes = bytes;
      p->head.name = t.name;
      p->head.place = t.gone;
    }
    if (send(p, peer) != 0) return;
    t.gone += bytes;
    s.getting += load_of(bytes);
    if (t.gone == t.bytes) s.gets.pop();
  }
}

// Unless a message has told it meanwhile.
void remote_memory::acknowledge(std::uint32_t peer) noexcept {
  state& s = states_[peer];
  if (!s.awaited) return;
  if (s.told != s.arrived && send(take_parcel(peer, effect::told), peer) == no_memory) return;
  s.awaited = false;
}

void remote_memory::refuse(std::uint32_t peer) noexcept {
  state& s = states_[peer];
  if (s.refuses) s.refuses = send(take_parcel(peer, effect::refused), peer) == no_memory;
}

void remote_memory::answer(std::uint32_t peer) noexcept {
  engine::fifo<parcel>& answers = states_[peer].answers;
  while (!answers.empty()) {
    parcel& p = answers.pop();
    const started came = submit(p);
    if (!came.failed()) continue;
    if (came.status() == no_memory) {
      answers.push(p); // the order of answers does not matter
      return again(peer);
    }
    give_back(p);
    fail_later(peer, came.status());
  }
}

// ---- messages in

ucs_status_t remote_memory::received(void* self, const void* head, std::size_t head_bytes, void* data,
                                     std::size_t bytes, const ucp_am_recv_param_t* param) noexcept {
  auto& m = *static_cast<remote_memory*>(self);
  envelope e;
  if (head_bytes != sizeof(header) && head_bytes != sizeof(envelope)) return UCS_OK;
  if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) return UCS_OK; // nobody of us sends such
  std::memcpy(&e, head, head_bytes);
  const header& h = e.head;
  if (h.job_key != m.options_.job_key || h.version != wire_version || h.source >= m.options_.size)
    return UCS_OK;
  m.hear(h.source, h.arrived);
  const bool could = m.take_in(h, {static_cast<const std::byte*>(data), bytes});
  if (could && head_bytes == sizeof(envelope)) pass_on(m.sink_, e.rider, {});
  return UCS_OK;
}

// Whether it could be done.
bool remote_memory::take_in(const header& h, std::span<const std::byte> payload) noexcept {
  switch (h.what) {
  case effect::put:
    return land(h, payload);
  case effect::tell:
    await(h.source);
    break;
  case effect::told:
    break; // all messages do
  case effect::wanted:
    write_down(h);
    break;
  case effect::piece:
    arrive(h, payload);
    break;
  case effect::refused:
    fail_later(h.source, UCS_ERR_INVALID_ADDR);
    break;
  }
  return true;
}

bool remote_memory::land(const header& h, std::span<const std::byte> payload) noexcept {
  state& s = states_[h.source];
  if (!is_mine(h.at, payload.size())) {
    s.refuses = true;
    mark(h.source);
    return false;
  }
  engine::copy_bytes(segment_.data() + h.at, payload.data(), payload.size());
  s.arrived += load_of(payload.size());
  if (h.asks != 0 || s.arrived - s.told > unasked) await(h.source);
  return true;
}

void remote_memory::await(std::uint32_t peer) noexcept {
  states_[peer].awaited = true;
  mark(peer);
}

void remote_memory::hear_of_more(std::uint32_t peer, std::uint32_t arrived) noexcept {
  state& s = states_[peer];
  const std::uint32_t more = arrived - static_cast<std::uint32_t>(s.delivered);
  if (more > s.gone - s.delivered) return; // it is none of ours
  s.delivered += more;
  end_followers(s.flushes, s.delivered);
  if (!s.puts.empty()) mark(peer);
}

void remote_memory::write_down(const header& h) noexcept {
  state& s = states_[h.source];
  mark(h.source);
  if (!is_mine(h.at, h.bytes)) {
    s.refuses = true;
    return;
  }
  parcel* const p = take_parcel(h.source, effect::piece);
  if (p == nullptr) engine::end_out_of_memory("an answer to another rank");
  p->head.name = h.name;
  p->head.place = h.place;
  p->payload = segment_.data() + h.at;
  p->bytes = h.bytes;
  s.answers.push(*p);
}

void remote_memory::arrive(const header& h, std::span<const std::byte> payload) noexcept {
  const std::uint32_t index = static_cast<std::uint32_t>(h.name);
  if (index >= transfers_.size()) return;
  transfer& t = transfers_[index];
  if (!t.live || t.name != h.name || t.peer != h.source || t.what != kind::get) return;
  if (h.place > t.bytes || payload.size() > t.bytes - h.place) return;
  engine::copy_bytes(t.local + h.place, payload.data(), payload.size());
  state& s = states_[h.source];
  s.getting -= load_of(payload.size());
  t.arrived += payload.size();
  if (t.arrived == t.bytes) end(t, 0);
  if (!s.gets.empty()) mark(h.source);
}

// ---- what is left to do

void remote_memory::mark(std::uint32_t peer) noexcept {
  state& s = states_[peer];
  if (std::exchange(s.busy, true)) return;
  s.next = busy_;
  busy_ = &s;
}

void remote_memory::again(std::uint32_t peer) noexcept {
  shortage_.met("a transfer");
  mark(peer);
}

void remote_memory::fail_later(std::uint32_t peer, int status) noexcept {
  state& s = states_[peer];
  if (s.failed == 0) s.failed = status;
  mark(peer);
}

unsigned remote_memory::serve_all() noexcept {
  unsigned count = 0;
  for (state* s = std::exchange(busy_, nullptr); s != nullptr; ++count) {
    state* const next = s->next;
    s->busy = false;
    serve(static_cast<std::uint32_t>(s - states_.data()));
    s = next;
  }
  return count;
}

// What others wait for comes first; they may do so although what this rank began with them has failed.
void remote_memory::serve(std::uint32_t peer) noexcept {
  acknowledge(peer);
  refuse(peer);
  if (states_[peer].failed == 0) issue_gets(peer);
  answer(peer);
  if (states_[peer].failed == 0) issue_puts(peer);
  if (states_[peer].failed != 0) [[unlikely]]
    fail_all(peer);
}

// A put that UCX still reads ends when UCX lets go of it.
void remote_memory::fail_all(std::uint32_t peer) noexcept {
  state& s = states_[peer];
  const int status = s.failed;
  if (parcel* const held = std::exchange(s.held, nullptr)) give_back(*held);
  while (!s.puts.empty()) {
    transfer& t = s.puts.pop();
    t.queued = false;
    t.status = status;
    if (t.with_ucx == 0) end(t, status);
  }
  for (engine::fifo<transfer>* followers : {&s.flushes, &s.orders})
    while (!followers->empty())
      end(followers->pop(), status);
  s.gets = {};
  for (std::size_t i = 0; i < transfers_.size(); ++i)
    if (transfer& t = transfers_[i]; t.live && t.what == kind::get && t.peer == peer) end(t, status);
}

} // namespace weft::transport::ucx
