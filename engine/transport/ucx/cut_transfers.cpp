// SPDX-License-Identifier: BSD-3-Clause
#include "engine/transport/ucx/cut_transfers.hpp"

#include <algorithm>
#include <new>

namespace weft::transport::ucx {

namespace {

void ended(void* request, ucs_status_t status, void* user) noexcept {
  auto* done = static_cast<completion*>(user);
  ucp_request_free(request);
  done->done(done, status);
}

ucp_request_param_t watched_by(completion& done) noexcept {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = ended;
  param.user_data = &done;
  return param;
}

started outcome_of(void* request) noexcept {
  if (UCS_PTR_IS_PTR(request)) return started::on_its_way();
  if (!UCS_PTR_IS_ERR(request)) return started::at_its_end();
  return started::failure(UCS_PTR_STATUS(request));
}

} // namespace

started cut_transfers::get(std::uint32_t peer, void* to, std::uint64_t from, std::uint64_t bytes,
                           completion& done) noexcept {
  auto* const local = static_cast<std::byte*>(to);
  return bytes > piece_bytes ? queue(kind::get, peer, local, from, bytes, done)
                             : start(kind::get, peer, local, from, bytes, done);
}

started cut_transfers::put(std::uint32_t peer, std::uint64_t to, const void* from, std::uint64_t bytes,
                           completion& done) noexcept {
  auto* const local = static_cast<std::byte*>(const_cast<void*>(from)); // only read
  return bytes > piece_bytes ? queue(kind::put, peer, local, to, bytes, done)
                             : start(kind::put, peer, local, to, bytes, done);
}

started cut_transfers::flush(std::uint32_t peer, completion& done) noexcept {
  return queued_puts_ != 0 ? queue(kind::flush, peer, nullptr, 0, 0, done)
                           : start(kind::flush, peer, nullptr, 0, 0, done);
}

started cut_transfers::start(kind what, std::uint32_t peer, std::byte* local, std::uint64_t remote,
                             std::uint64_t bytes, completion& done) noexcept {
  if (const int broken = links_.ready(peer); broken != 0) [[unlikely]]
    return started::failure(broken);
  const link& l = links_[peer];
  const ucp_request_param_t param = watched_by(done);
  const std::uint64_t at = l.remote_base + remote;
  switch (what) {
  case kind::get:
    return outcome_of(ucp_get_nbx(l.endpoint, local, bytes, at, l.rkey.get(), &param));
  case kind::put:
    return outcome_of(ucp_put_nbx(l.endpoint, local, bytes, at, l.rkey.get(), &param));
  case kind::flush:
    break;
  }
  return outcome_of(ucp_ep_flush_nbx(l.endpoint, &param));
}

started cut_transfers::queue(kind what, std::uint32_t peer, std::byte* local, std::uint64_t remote,
                             std::uint64_t bytes, completion& done) noexcept {
  transfer* const t = transfers_.take();
  if (t == nullptr) [[unlikely]]
    return started::failure(no_memory);
  *t = {};
  t->done = piece_ended;
  t->whole = &done;
  t->owner = this;
  t->local = local;
  t->remote = remote;
  t->left = bytes;
  t->number = ++last_number_;
  t->peer = peer;
  t->what = what;
  queued_puts_ += what == kind::put;
  queue_.push(*t);
  return started::on_its_way();
}

// Any rank that has had a turn goes to the end of the queue.
std::uint64_t cut_transfers::carry_on() noexcept {
  const std::uint64_t last = last_number_;
  std::uint64_t carried = 0;
  bool at_once = false;
  transfer* passed = nullptr; // the first that had to wait
  while (!at_once && !idle() && queue_.front() != passed && queue_.front()->number <= last) {
    transfer& t = queue_.pop();
    if (t.what == kind::flush && has_puts_before(t)) {
      if (passed == nullptr) passed = &t;
      queue_.push(t);
      continue;
    }
    const std::uint64_t before = t.left;
    const started came = start_next(t);
    carried += std::max<std::uint64_t>(before - t.left, 1);
    at_once = came.done();
    if (came.status() == no_memory) {
      queue_.push(t);
      return 0; // again at the next pass
    }
    if (came.failed()) {
      t.status = came.status();
      t.left = 0;
    }
    if (t.left != 0)
      queue_.push(t);
    else {
      queued_puts_ -= t.what == kind::put;
      t.what = kind::get; // no rank waits for its start any more
      t.number = 0;
      end_if_over(t);
    }
  }
  return carried;
}

started cut_transfers::start_next(transfer& t) noexcept {
  const std::uint64_t bytes = std::min(piece_bytes, t.left);
  ++t.under_way; // an end may be told from within
  ++under_way_;
  const started came = start(t.what, t.peer, t.local, t.remote, bytes, t);
  if (!came.under_way()) {
    --t.under_way;
    --under_way_;
  }
  if (came.failed()) return came;
  t.local += bytes;
  t.remote += bytes;
  t.left -= bytes;
  return came;
}

void cut_transfers::piece_ended(completion* c, int status) noexcept {
  auto& t = *static_cast<transfer*>(c);
  --t.under_way;
  --t.owner->under_way_;
  if (status < 0 && t.status == 0) t.status = status;
  t.owner->end_if_over(t);
}

// A number says that it is still in the queue.
void cut_transfers::end_if_over(transfer& t) noexcept {
  if (t.number != 0 || t.under_way != 0) return;
  completion* const whole = t.whole;
  const int status = t.status;
  transfers_.give_back(t);
  whole->done(whole, status);
}

bool cut_transfers::has_puts_before(const transfer& flush) const noexcept {
  for (const transfer* t = queue_.front(); t != nullptr; t = t->next)
    if (t->what == kind::put && t->peer == flush.peer && t->number < flush.number) return true;
  return false;
}

} // namespace weft::transport::ucx
