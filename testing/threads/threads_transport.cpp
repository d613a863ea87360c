// SPDX-License-Identifier: BSD-3-Clause
#include "testing/threads/threads_transport.hpp"

#include "engine/transport/transport.hpp"

#include <ctime>
#include <poll.h>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

namespace weft::transport {

static_assert(transport<threads_transport>);

void threads_transport::check(std::uint32_t peer, std::uint64_t offset, std::uint64_t bytes) const {
  if (peer >= fabric_.ranks() || offset > fabric_.segment_bytes() || bytes > fabric_.segment_bytes() - offset)
    throw std::logic_error("no " + std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                           " of rank " + std::to_string(peer) + "'s segment");
}

const char* threads_transport::explain(int status) noexcept {
  return status == no_memory ? "out of memory" : "the peer cannot be reached";
}

// At its end if the source has been read; else the target reads it and says so.
started threads_transport::hand_source(packet& p, const void* from, std::uint64_t bytes,
                                       completion& done) const {
  const auto* const begin = static_cast<const std::byte*>(from);
  p.bytes = bytes;
  if (bytes <= read_by_call) {
    if (bytes != 0) p.data.assign(begin, begin + bytes);
    return started::at_its_end();
  }
  p.source = begin;
  p.done = &done;
  return started::on_its_way();
}

started threads_transport::get(std::uint32_t peer, void* to, std::uint64_t offset, std::uint64_t bytes,
                               completion& done) {
  check(peer, offset, bytes);
  if (bytes == 0) return started::at_its_end();
  packet p;
  p.what = packet::kind::get;
  p.from = rank_;
  p.offset = offset;
  p.bytes = bytes;
  p.destination = static_cast<std::byte*>(to);
  p.done = &done;
  fabric_.box(peer).push(std::move(p));
  return started::on_its_way();
}

started threads_transport::put(std::uint32_t peer, std::uint64_t offset, const void* from,
                               std::uint64_t bytes, completion& done) {
  check(peer, offset, bytes);
  if (bytes == 0) return started::at_its_end();
  packet p;
  p.what = packet::kind::put;
  p.from = rank_;
  p.offset = offset;
  const started came = hand_source(p, from, bytes, done);
  fabric_.box(peer).push(std::move(p));
  return came;
}

started threads_transport::flush(std::uint32_t peer, completion& done) {
  check(peer, 0, 0);
  packet p;
  p.what = packet::kind::flush;
  p.from = rank_;
  p.done = &done;
  fabric_.box(peer).push(std::move(p));
  return started::on_its_way();
}

started threads_transport::send(std::uint32_t peer, const message& m, const void* payload,
                                std::uint64_t bytes, completion& done) {
  check(peer, 0, 0);
  packet p;
  p.what = packet::kind::message;
  p.from = rank_;
  p.announces = m;
  const started came = hand_source(p, payload, bytes, done);
  fabric_.box(peer).push(std::move(p));
  return came;
}

void threads_transport::ring(std::uint32_t peer) {
  packet p;
  p.what = packet::kind::ring;
  p.from = rank_;
  fabric_.box(peer).push(std::move(p));
}

void threads_transport::reply(const packet& to, packet::kind what, std::vector<std::byte> data) {
  packet p;
  p.what = what;
  p.from = rank_;
  p.destination = to.destination;
  p.done = to.done;
  p.data = std::move(data);
  fabric_.box(to.from).push(std::move(p));
}

unsigned threads_transport::poll() {
  unsigned events = 0;
  while (sink_ != nullptr && !without_sink_.empty()) {
    packet p = std::move(without_sink_.front());
    without_sink_.pop_front();
    hand_over(p);
    ++events;
  }
  std::deque<packet> packets = fabric_.box(rank_).take_all();
  for (packet& p : packets)
    handle(p);
  return events + static_cast<unsigned>(packets.size());
}

void threads_transport::handle(packet& p) {
  switch (p.what) {
  case packet::kind::put:
    copy(segment() + p.offset, p.source != nullptr ? p.source : p.data.data(), p.bytes);
    if (p.done != nullptr) reply(p, packet::kind::put_read);
    break;
  case packet::kind::get: {
    const std::byte* const begin = segment() + p.offset;
    reply(p, packet::kind::got, std::vector<std::byte>(begin, begin + p.bytes));
    break;
  }
  case packet::kind::flush:
    reply(p, packet::kind::flushed);
    break;
  case packet::kind::message:
    if (p.source != nullptr) {
      p.data.assign(p.source, p.source + p.bytes);
      reply(p, packet::kind::message_read);
    }
    if (sink_ == nullptr)
      without_sink_.push_back(std::move(p));
    else
      hand_over(p);
    break;
  case packet::kind::got:
    copy(p.destination, p.data.data(), p.data.size());
    p.done->done(p.done, 0);
    break;
  case packet::kind::put_read:
  case packet::kind::flushed:
  case packet::kind::message_read:
    p.done->done(p.done, 0);
    break;
  case packet::kind::ring:
    break;
  }
}

void threads_transport::hand_over(packet& p) {
  sink_->on_message(p.announces, std::span<const std::byte>(p.data));
}

bool threads_transport::arm() {
  if (sink_ != nullptr && !without_sink_.empty()) return false;
  return fabric_.box(rank_).arm();
}

void threads_transport::nap(std::chrono::nanoseconds limit) {
  if (!arm()) return;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  const timespec time{static_cast<std::time_t>(seconds.count()),
                      static_cast<long>((limit - seconds).count())};
  pollfd watched{event_fd(), POLLIN, 0};
  ppoll(&watched, 1, &time, nullptr);
}

} // namespace weft::transport
