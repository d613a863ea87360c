// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/linked_items.hpp"
#include "engine/transport/ucx/memory_messages.hpp"

namespace weft::transport::ucx {

// Gets over messages: one `wanted` for each piece; `piece` comes back, straight out of the target's segment.
// Of what is wanted only so much is on its way; the rest waits in the transfer, which knows how far it has
// come. A message that asks is only written down by its handler, and answered from serve().
class memory_gets {
public:
  memory_gets(memory_messages& messages, std::uint32_t peers) : messages_(messages), states_(peers) {}
  memory_gets(const memory_gets&) = delete;
  memory_gets& operator=(const memory_gets&) = delete;

  started get(std::uint32_t peer, void* to, std::uint64_t from, std::uint64_t bytes,
              completion& done) noexcept {
    return begin(peer, to, from, bytes, done);
  }
  // In one piece.
  started get_rows(std::uint32_t peer, void* to, std::uint64_t apart_here, std::uint64_t from,
                   const rows_there& rows, completion& done) noexcept {
    return begin(peer, to, from, rows.bytes * rows.count, done, rows, apart_here);
  }

  // Messages of a peer.
  void write_down(const memory_header& wanted) noexcept;
  void arrive(const memory_header& piece, std::span<const std::byte> payload) noexcept;

  // What may go now: what this rank asks for, and what it is asked for.
  void issue(std::uint32_t peer) noexcept;
  void answer(std::uint32_t peer) noexcept;
  // All that this rank asked for.
  void fail(std::uint32_t peer, int status) noexcept;

private:
  struct transfer {
    completion* done = nullptr; // null: over
    std::byte* local = nullptr;
    std::uint64_t remote = 0;
    std::uint64_t bytes = 0;
    std::uint64_t gone = 0; // has been asked for
    std::uint64_t arrived = 0;
    rows_there rows; // packed ones
    std::uint64_t apart_here = 0;
    std::uint64_t name = 0; // index and generation: an answer that is late finds no transfer
    std::uint32_t peer = 0;
    transfer* next = nullptr;
  };
  struct state {
    std::uint64_t under_way = 0; // asked for, and not here
    engine::fifo<transfer> gets;
    engine::fifo<memory_messages::parcel> answers;
  };

  started begin(std::uint32_t peer, void* to, std::uint64_t from, std::uint64_t bytes, completion& done,
                const rows_there& rows = {}, std::uint64_t apart_here = 0) noexcept;
  transfer* take() noexcept;
  void end(transfer& t, int status) noexcept;

  memory_messages& messages_;
  std::vector<state> states_;
  engine::item_pool<transfer> transfers_;
};

// Puts over messages, and the rank that waits for them.
//
//   put     The source goes out in pieces, each one segment of UCX, so that the target copies it from the
//           receive buffer to its place. How much has arrived comes back with every message that goes there
//           anyway, of the transport or of remote_memory, written after the copies: a rank that hears of a
//           piece may tell others that it is in place. A message of its own, one for all that a poll has
//           brought, says so if a piece asks for it, or if more than half of what may be under way has not
//           been told.
//   push    A put that is ordered, and not flushed: its pieces do not ask.
//   flush   Ends when as much has arrived as was put before it, and asks if pushes did not. Pieces and what
//           comes back of them stay in order (single segments on the one lane of UCX for messages).
//   order   Ends when the pieces of the puts before it have gone out: other messages follow them.
//
// Loads are numbers that only grow: what is under way is what has been begun less what has arrived.
class memory_puts {
public:
  memory_puts(memory_messages& messages, std::uint32_t peers) : messages_(messages), states_(peers) {}
  memory_puts(const memory_puts&) = delete;
  memory_puts& operator=(const memory_puts&) = delete;

  started put(std::uint32_t peer, std::uint64_t to, const void* from, std::uint64_t bytes,
              completion& done) noexcept {
    return begin(peer, to, from, bytes, done, false);
  }
  // In one piece.
  started put_rows(std::uint32_t peer, std::uint64_t to, const void* packed, const rows_there& rows,
                   completion& done) noexcept {
    return begin(peer, to, packed, rows.bytes * rows.count, done, false, rows);
  }
  started push(std::uint32_t peer, std::uint64_t to, const void* from, std::uint64_t bytes,
               completion& done) noexcept {
    return begin(peer, to, from, bytes, done, true);
  }
  started flush(std::uint32_t peer, completion& done) noexcept;
  started order(std::uint32_t peer, completion& done) noexcept;

  // What the header of a message says of my puts.
  void hear(std::uint32_t peer, std::uint32_t arrived) noexcept {
    if (peer < states_.size() && arrived != static_cast<std::uint32_t>(states_[peer].delivered))
      hear_of_more(peer, arrived);
  }
  // Messages of a peer. A piece for no place of the segment is refused.
  void land(const memory_header& piece, std::span<const std::byte> payload) noexcept;
  void await(std::uint32_t peer) noexcept;

  // What is to be told, and what may go now.
  void acknowledge(std::uint32_t peer) noexcept;
  void issue(std::uint32_t peer) noexcept;
  // All that this rank has begun. A put that UCX still reads ends when UCX lets go of it.
  void fail(std::uint32_t peer, int status) noexcept;

private:
  // What a call began and has not ended.
  struct transfer : memory_messages::source {
    completion* done = nullptr; // null until that call returns
    const std::byte* local = nullptr;
    std::uint64_t remote = 0;
    std::uint64_t bytes = 0;
    std::uint64_t gone = 0; // how far its pieces have been sent
    rows_there rows;        // packed ones
    memory_puts* owner = nullptr;
    bool pushed = false;
    bool queued = false;
    bool ended = false;
    transfer* next = nullptr;
  };
  // A flush, which waits for what has arrived, or an order, for what has gone.
  struct follower {
    completion* done = nullptr;
    std::uint64_t target = 0;
    follower* next = nullptr;
  };
  struct state {
    std::uint64_t delivered = 0; // of my puts
    std::uint64_t gone = 0;      // has been sent
    std::uint64_t promised = 0;  // with those that wait
    std::uint64_t asked = 0;     // the peer knows that a rank waits to hear of so much
    engine::fifo<transfer> puts;
    engine::fifo<follower> flushes, orders;
    bool awaited = false; // the peer waits to be told
  };

  started begin(std::uint32_t peer, std::uint64_t to, const void* from, std::uint64_t bytes, completion& done,
                bool pushed, const rows_there& rows = {}) noexcept;
  void end(transfer& t) noexcept;
  static void released(memory_messages::source& s) noexcept;

  started follow(std::uint32_t peer, std::uint64_t so_far, engine::fifo<follower>& others,
                 completion& done) noexcept;
  void end_followers(engine::fifo<follower>& f, std::uint64_t so_far) noexcept;
  void end(follower& f, int status) noexcept;

  int issue_piece(std::uint32_t peer, transfer& t) noexcept;
  void ask(std::uint32_t peer) noexcept;
  void hear_of_more(std::uint32_t peer, std::uint32_t arrived) noexcept;

  memory_messages& messages_;
  std::vector<state> states_;
  engine::item_pool<transfer> transfers_;
  engine::item_pool<follower> followers_;
};

} // namespace weft::transport::ucx
