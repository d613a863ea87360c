// SPDX-License-Identifier: BSD-3-Clause
#include "engine/transport/ucx/memory_transfers.hpp"

#include "engine/memory/copy.hpp"

#include <algorithm>
#include <new>

namespace weft::transport::ucx {

// ---- what this rank asks for

namespace {

// Rows that lie packed on the one side and apart on the other.
void copy_rows(std::byte* to, std::uint64_t to_apart, const std::byte* from, std::uint64_t from_apart,
               std::uint64_t bytes, std::uint64_t rows) noexcept {
  for (std::uint64_t k = 0; k != rows; ++k, to += to_apart, from += from_apart)
    engine::copy_bytes(to, from, bytes);
}

// From the first byte of so many to the last one; of what no rank of us asks for, more than any segment has.
std::uint64_t extent_of(std::uint64_t bytes, std::uint64_t apart, std::uint64_t all) noexcept {
  std::uint64_t extent = 0;
  if (bytes == 0 || all == 0 || all % bytes != 0 || __builtin_mul_overflow(all / bytes - 1, apart, &extent) ||
      __builtin_add_overflow(extent, bytes, &extent))
    return ~std::uint64_t{0};
  return extent;
}

} // namespace

started memory_gets::begin(std::uint32_t peer, void* to, std::uint64_t from, std::uint64_t bytes,
                           completion& done, const rows_there& rows, std::uint64_t apart_here) noexcept {
  if (const int why = messages_.failed(peer); why != 0) [[unlikely]]
    return started::failure(why);
  transfer* const t = take();
  if (t == nullptr) [[unlikely]]
    return started::failure(no_memory);
  t->done = &done;
  t->local = static_cast<std::byte*>(to);
  t->remote = from;
  t->bytes = bytes;
  t->rows = rows;
  t->apart_here = apart_here;
  t->peer = peer;
  states_[peer].gets.push(*t);
  issue(peer);
  return started::on_its_way();
}

memory_gets::transfer* memory_gets::take() noexcept {
  constexpr std::uint64_t generation = std::uint64_t{1} << 32;
  const bool fresh = !transfers_.has_free();
  transfer* const t = transfers_.take();
  if (t == nullptr) return nullptr;
  const std::uint64_t name = fresh ? transfers_.size() - 1 : t->name + generation;
  *t = {};
  t->name = name;
  return t;
}

void memory_gets::issue(std::uint32_t peer) noexcept {
  state& s = states_[peer];
  while (!s.gets.empty() && s.under_way < most_under_way) {
    transfer& t = *s.gets.front();
    const std::uint64_t bytes = std::min(piece_bytes, t.bytes - t.gone);
    memory_messages::parcel* const p = messages_.take(peer, effect::get);
    if (p != nullptr) {
      p->head.at = t.remote + t.gone;
      p->head.bytes = bytes;
      p->head.name = t.name;
      p->head.asks = static_cast<std::uint16_t>(t.rows.count);
      p->head.place = t.rows.count != 0 ? t.rows.apart : t.gone;
    }
    if (messages_.send(p, peer) != 0) return;
    t.gone += bytes;
    s.under_way += load_of(bytes);
    if (t.gone == t.bytes) s.gets.pop();
  }
}

void memory_gets::arrive(const memory_header& piece, std::span<const std::byte> payload) noexcept {
  const std::uint32_t index = static_cast<std::uint32_t>(piece.name);
  if (index >= transfers_.size()) return;
  transfer& t = transfers_[index];
  if (t.done == nullptr || t.name != piece.name || t.peer != piece.source) return;
  if (piece.place > t.bytes || payload.size() > t.bytes - piece.place) return;
  if (t.rows.count == 0)
    engine::copy_bytes(t.local + piece.place, payload.data(), payload.size());
  else if (payload.size() == t.bytes)
    copy_rows(t.local, t.apart_here, payload.data(), t.rows.bytes, t.rows.bytes, t.rows.count);
  state& s = states_[piece.source];
  s.under_way -= load_of(payload.size());
  t.arrived += payload.size();
  if (t.arrived == t.bytes) end(t, 0);
  if (!s.gets.empty()) messages_.mark(piece.source);
}

void memory_gets::end(transfer& t, int status) noexcept {
  completion& done = *std::exchange(t.done, nullptr);
  transfers_.give_back(t);
  done.done(&done, status);
}

void memory_gets::fail(std::uint32_t peer, int status) noexcept {
  states_[peer].gets = {};
  for (std::size_t i = 0; i < transfers_.size(); ++i)
    if (transfer& t = transfers_[i]; t.done != nullptr && t.peer == peer) end(t, status);
}

// ---- what it is asked for

void memory_gets::write_down(const memory_header& wanted) noexcept {
  const std::uint64_t rows = wanted.asks, each = rows == 0 ? wanted.bytes : wanted.bytes / rows;
  const std::uint64_t extent = rows == 0 ? wanted.bytes
                               : wanted.bytes > most_packed_bytes
                                   ? ~std::uint64_t{0}
                                   : extent_of(each, wanted.place, wanted.bytes);
  const std::byte* const from = messages_.place(wanted.source, wanted.at, extent);
  if (from == nullptr) return;
  memory_messages::parcel* const p = messages_.take(wanted.source, effect::data);
  if (p == nullptr) engine::end_out_of_memory("an answer to another rank");
  p->head.name = wanted.name;
  p->head.place = rows == 0 ? wanted.place : 0;
  p->payload = from;
  if (rows != 0) {
    if (p->packed == nullptr) p->packed.reset(new (std::nothrow) std::byte[most_packed_bytes]);
    if (p->packed == nullptr) engine::end_out_of_memory("an answer to another rank");
    copy_rows(p->packed.get(), each, from, wanted.place, each, rows);
    p->payload = p->packed.get();
  }
  p->bytes = wanted.bytes;
  states_[wanted.source].answers.push(*p);
  messages_.mark(wanted.source);
}

void memory_gets::answer(std::uint32_t peer) noexcept {
  engine::fifo<memory_messages::parcel>& answers = states_[peer].answers;
  while (!answers.empty()) {
    memory_messages::parcel& p = answers.pop();
    const started came = messages_.submit(p);
    if (!came.failed()) continue;
    if (came.status() == no_memory) {
      answers.push(p); // the order of answers does not matter
      return messages_.again(peer);
    }
    messages_.give_back(p);
    messages_.fail_later(peer, came.status());
  }
}

namespace {

constexpr std::uint64_t unasked = most_under_way * 5 / 8;

constexpr std::uint64_t pieces_of(std::uint64_t bytes) {
  return (bytes + piece_bytes - 1) / piece_bytes;
}

} // namespace

// ---- what this rank begins

started memory_puts::begin(std::uint32_t peer, std::uint64_t to, const void* from, std::uint64_t bytes,
                           completion& done, bool pushed, const rows_there& rows) noexcept {
  if (const int why = messages_.failed(peer); why != 0) [[unlikely]]
    return started::failure(why);
  transfer* const t = transfers_.take();
  if (t == nullptr) [[unlikely]]
    return started::failure(no_memory);
  *t = {};
  t->released = released;
  t->local = static_cast<const std::byte*>(from);
  t->remote = to;
  t->bytes = bytes;
  t->owner = this;
  t->rows = rows;
  t->pushed = pushed;
  t->queued = true;
  state& s = states_[peer];
  const bool first = s.puts.empty(); // no other transfer may end in this call
  s.promised += load_of(bytes, pieces_of(bytes));
  s.puts.push(*t);
  if (first) issue(peer);
  t->done = &done;
  if (!t->ended) return started::on_its_way();
  transfers_.give_back(*t);
  return started::at_its_end();
}

void memory_puts::end(transfer& t) noexcept {
  t.ended = true;
  if (t.done == nullptr) return; // begin() is about to look
  completion& done = *t.done;
  const int status = t.status;
  transfers_.give_back(t);
  done.done(&done, status);
}

void memory_puts::released(memory_messages::source& s) noexcept {
  transfer& t = static_cast<transfer&>(s);
  if (!t.queued) t.owner->end(t);
}

started memory_puts::flush(std::uint32_t peer, completion& done) noexcept {
  state& s = states_[peer];
  const started came = follow(peer, s.delivered, s.flushes, done);
  if (came.under_way()) ask(peer);
  return came;
}

started memory_puts::order(std::uint32_t peer, completion& done) noexcept {
  state& s = states_[peer];
  return follow(peer, s.gone, s.orders, done);
}

// Behind all that is promised now, of which so much has come as far as this one asks for.
started memory_puts::follow(std::uint32_t peer, std::uint64_t so_far, engine::fifo<follower>& others,
                            completion& done) noexcept {
  if (const int why = messages_.failed(peer); why != 0) [[unlikely]]
    return started::failure(why);
  const state& s = states_[peer];
  if (so_far == s.promised) return started::at_its_end();
  follower* const f = followers_.take();
  if (f == nullptr) [[unlikely]]
    return started::failure(no_memory);
  f->done = &done;
  f->target = s.promised;
  others.push(*f);
  return started::on_its_way();
}

void memory_puts::end_followers(engine::fifo<follower>& f, std::uint64_t so_far) noexcept {
  while (!f.empty() && f.front()->target <= so_far)
    end(f.pop(), 0);
}

void memory_puts::end(follower& f, int status) noexcept {
  completion& done = *f.done;
  followers_.give_back(f);
  done.done(&done, status);
}

void memory_puts::fail(std::uint32_t peer, int status) noexcept {
  state& s = states_[peer];
  while (!s.puts.empty()) {
    transfer& t = s.puts.pop();
    t.queued = false;
    t.status = status;
    if (t.in_use == 0) end(t);
  }
  for (engine::fifo<follower>* followers : {&s.flushes, &s.orders})
    while (!followers->empty())
      end(followers->pop(), status);
}

// ---- pieces out

void memory_puts::issue(std::uint32_t peer) noexcept {
  state& s = states_[peer];
  while (!s.puts.empty() && s.gone - s.delivered < most_under_way) {
    transfer& t = *s.puts.front();
    if (issue_piece(peer, t) != 0) return;
    if (t.gone < t.bytes) continue;
    s.puts.pop();
    t.queued = false;
    if (t.in_use == 0) end(t);
  }
  end_followers(s.orders, s.gone);
  ask(peer);
}

// 0, or why it did not go.
int memory_puts::issue_piece(std::uint32_t peer, transfer& t) noexcept {
  state& s = states_[peer];
  const std::uint64_t bytes = std::min(piece_bytes, t.bytes - t.gone), load = load_of(bytes);
  memory_messages::parcel* const p = messages_.take(peer, effect::put);
  if (p != nullptr) {
    p->head.at = t.remote + t.gone;
    p->head.asks = !t.pushed;
    p->head.name = t.rows.bytes;
    p->head.place = t.rows.apart;
    p->payload = t.local + t.gone;
    p->bytes = bytes;
    p->of = &t;
  }
  if (const int wrong = messages_.send(p, peer); wrong != 0) return wrong;
  t.gone += bytes;
  s.gone += load;
  if (!t.pushed) s.asked = s.gone;
  return 0;
}

// Behind the last piece, if a flush waits to hear of one that did not say so.
void memory_puts::ask(std::uint32_t peer) noexcept {
  state& s = states_[peer];
  if (s.flushes.empty() || !s.puts.empty() || s.asked == s.gone) return;
  if (messages_.send(messages_.take(peer, effect::ask), peer) == 0) s.asked = s.gone;
}

void memory_puts::hear_of_more(std::uint32_t peer, std::uint32_t arrived) noexcept {
  state& s = states_[peer];
  const std::uint32_t more = arrived - static_cast<std::uint32_t>(s.delivered);
  if (more > s.gone - s.delivered) return; // it is none of ours
  s.delivered += more;
  end_followers(s.flushes, s.delivered);
  if (!s.puts.empty()) messages_.mark(peer);
}

// ---- pieces in

void memory_puts::land(const memory_header& piece, std::span<const std::byte> payload) noexcept {
  const std::uint64_t extent =
      piece.name == 0 ? payload.size() : extent_of(piece.name, piece.place, payload.size());
  std::byte* const to = messages_.place(piece.source, piece.at, extent);
  if (to == nullptr) return;
  if (piece.name == 0)
    engine::copy_bytes(to, payload.data(), payload.size());
  else // rows, all of which are in the segment
    copy_rows(to, piece.place, payload.data(), piece.name, piece.name, payload.size() / piece.name);
  messages_.arrives(piece.source, load_of(payload.size()));
  if (piece.asks != 0 || messages_.untold(piece.source) > unasked) await(piece.source);
}

void memory_puts::await(std::uint32_t peer) noexcept {
  states_[peer].awaited = true;
  messages_.mark(peer);
}

// Unless a message has told it meanwhile.
void memory_puts::acknowledge(std::uint32_t peer) noexcept {
  state& s = states_[peer];
  if (!s.awaited) return;
  if (messages_.untold(peer) != 0 &&
      messages_.send(messages_.take(peer, effect::acknowledge), peer) == no_memory)
    return;
  s.awaited = false;
}

} // namespace weft::transport::ucx
