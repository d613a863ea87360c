// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/transport/transport.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace weft::transport {

// What travels on the far lane. Requests are carried out by the target's poll, answers by the initiator's.
struct packet {
  enum class kind : std::uint8_t { put, put_read, get, got, flush, flushed, message, message_read, ring };
  kind what = kind::ring;
  std::uint32_t from = 0;
  std::uint64_t offset = 0; // put, get: in the target's segment
  std::uint64_t bytes = 0;
  const std::byte* source = nullptr; // put, message: read by the target; null: `data` holds the bytes
  std::byte* destination = nullptr;  // get: where the answer goes
  completion* done = nullptr;
  message announces;
  std::vector<std::byte> data;
};

// The packets for one rank, in the order of their arrival; any thread puts one in, one at a time takes them
// out.
//
// The descriptor becomes readable by an arrival only after arm(), and once: any rank that takes packets
// without arming again hears nothing of later ones. That is the least that a real network promises.
class mailbox {
public:
  mailbox();
  ~mailbox();
  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;

  void push(packet&& p);
  std::deque<packet> take_all();
  // False: there is something to take. True: the next arrival raises the descriptor.
  bool arm();
  int event_fd() const { return fd_; }

private:
  std::mutex lock_;
  std::deque<packet> packets_;
  bool armed_ = false;
  std::atomic<bool> some_{false}; // packets_ is not empty: spares an idle poll the lock
  int fd_;
};

// N ranks in one process over plain memory: their segments and their mailboxes. It outlives their transports.
class threads_fabric {
public:
  threads_fabric(std::uint32_t ranks, std::vector<std::uint32_t> host_of_rank, std::size_t segment_bytes);

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(node_.size()); }
  bool near(std::uint32_t a, std::uint32_t b) const { return node_[a] == node_[b]; }
  std::byte* segment(std::uint32_t rank) const { return segments_[rank].get(); }
  std::size_t segment_bytes() const { return segment_bytes_; }
  mailbox& box(std::uint32_t rank) { return *boxes_[rank]; }

private:
  struct aligned_delete {
    void operator()(std::byte* p) const;
  };
  std::vector<std::uint32_t> node_;
  std::size_t segment_bytes_;
  std::vector<std::unique_ptr<std::byte[], aligned_delete>> segments_;
  std::vector<std::unique_ptr<mailbox>> boxes_;
};

} // namespace weft::transport
