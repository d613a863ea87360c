// SPDX-License-Identifier: BSD-3-Clause
#include "engine/transport/ucx/memory_gets.hpp"

#include "engine/memory/copy.hpp"

#include <algorithm>

namespace weft::transport::ucx {

// ---- what this rank asks for

started memory_gets::get(std::uint32_t peer, void* to, std::uint64_t from, std::uint64_t bytes,
                         completion& done) noexcept {
  if (const int why = messages_.failed(peer); why != 0) [[unlikely]]
    return started::failure(why);
  transfer* const t = take();
  if (t == nullptr) [[unlikely]]
    return started::failure(no_memory);
  t->done = &done;
  t->local = static_cast<std::byte*>(to);
  t->remote = from;
  t->bytes = bytes;
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
    memory_messages::parcel* const p = messages_.take(peer, effect::wanted);
    if (p != nullptr) {
      p->head.at = t.remote + t.gone;
      p->head.bytes = bytes;
      p->head.name = t.name;
      p->head.place = t.gone;
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
  engine::copy_bytes(t.local + piece.place, payload.data(), payload.size());
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
  const std::byte* const from = messages_.place(wanted.source, wanted.at, wanted.bytes);
  if (from == nullptr) return;
  memory_messages::parcel* const p = messages_.take(wanted.source, effect::piece);
  if (p == nullptr) engine::end_out_of_memory("an answer to another rank");
  p->head.name = wanted.name;
  p->head.place = wanted.place;
  p->payload = from;
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

} // namespace weft::transport::ucx
