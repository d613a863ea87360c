// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/transport/direct_memory.hpp"
#include "testing/threads/fabric.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <vector>

namespace weft::transport {

// One rank among several in a process. Near ranks are reached by loads and stores; the far lane behaves like
// a network whose transfers are made by the processors at both ends: nothing lands before the target polls.
// Small sources are read by the call, large ones by the target's poll. Satisfies the transport concept; see
// there.
class threads_transport : public direct_memory {
public:
  threads_transport(threads_fabric& fabric, std::uint32_t rank) : fabric_(fabric), rank_(rank) {}
  threads_transport(const threads_transport&) = delete;
  threads_transport& operator=(const threads_transport&) = delete;

  std::uint32_t rank() const { return rank_; }
  std::uint32_t size() const { return fabric_.ranks(); }
  std::byte* segment() const { return fabric_.segment(rank_); }
  std::uint64_t segment_bytes() const { return fabric_.segment_bytes(); }
  std::byte* direct(std::uint32_t peer) {
    return fabric_.near(rank_, peer) ? fabric_.segment(peer) : nullptr;
  }

  started get(std::uint32_t peer, void* to, std::uint64_t offset, std::uint64_t bytes, completion& done);
  started put(std::uint32_t peer, std::uint64_t offset, const void* from, std::uint64_t bytes,
              completion& done);
  started flush(std::uint32_t peer, completion& done);
  started send(std::uint32_t peer, const message& m, const void* payload, std::uint64_t bytes,
               completion& done);
  static const char* explain(int status) noexcept;
  unsigned poll();
  void ring(std::uint32_t peer);
  // Messages that come before there is a sink wait for it.
  void set_sink(message_sink* sink) { sink_ = sink; }
  bool arm();
  int event_fd() const { return fabric_.box(rank_).event_fd(); }
  // As over sockets.
  void poll_by_calls() { by_calls_ = true; }
  bool polls_by_calls() const { return by_calls_; }
  void nap(std::chrono::nanoseconds limit);

private:
  static constexpr std::uint64_t read_by_call = 512;

  void check(std::uint32_t peer, std::uint64_t offset, std::uint64_t bytes) const;
  started hand_source(packet& p, const void* from, std::uint64_t bytes, completion& done) const;
  void reply(const packet& to, packet::kind what, std::vector<std::byte> data = {});
  void handle(packet& p);
  void hand_over(packet& p);

  threads_fabric& fabric_;
  bool by_calls_ = false;
  const std::uint32_t rank_;
  message_sink* sink_ = nullptr;
  std::deque<packet> without_sink_;
};

} // namespace weft::transport
