// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/transport/transport.hpp"
#include "testing/simulated/memory.hpp"
#include "testing/simulated/scheduler.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

namespace weft::transport::sim {

// The far lane. What it promises is what the interface promises, and nothing more:
//   put     its source is read at any time until it is finished;
//           it lands in pieces, in any order, at any time until a flush,
//           some only when the target polls
//   get     reads at any time between start and end, some only when the target polls; lands in pieces
//   send    in order from one rank to another, but not ordered with puts; handed over by the target's poll
//   flush   finishes when everything that was started before it to that peer has arrived
//   order   a flush; on a machine that keeps messages behind puts it finishes at once, and what is sent to
//   the
//           peer from then on is handed over when the puts before it have landed
//   ring    sticks until the next poll or nap
// What has finished is reported by the initiator's poll.
class network {
public:
  network(const simulation_options& options, seeded_random& random, scheduler& scheduler, memory& memory);

  started get(std::uint32_t me, std::uint32_t peer, void* to, std::uint64_t offset, std::uint64_t bytes,
              completion& done);
  started put(std::uint32_t me, std::uint32_t peer, std::uint64_t offset, const void* from,
              std::uint64_t bytes, completion& done);
  started flush(std::uint32_t me, std::uint32_t peer, completion& done);
  started order(std::uint32_t me, std::uint32_t peer, completion& done);
  started send(std::uint32_t me, std::uint32_t peer, const message& m, const void* payload,
               std::uint64_t bytes, completion& done);
  unsigned poll(std::uint32_t me);
  void ring(std::uint32_t me, std::uint32_t peer);
  void set_sink(std::uint32_t me, message_sink* sink) { ports_[me].sink = sink; }
  bool something_to_poll(std::uint32_t me) const;
  void nap(std::uint32_t me, std::int64_t limit);

  std::uint64_t rings() const { return rings_; }
  std::uint64_t messages() const { return messages_; }
  std::uint64_t bytes() const { return bytes_; }

private:
  using bytes_of = std::vector<std::byte>;
  struct parcel { // a message on its way
    message m;
    bytes_of payload;
    std::uint64_t id = 0;
    std::uint64_t behind = 0; // what has begun up to this one must have landed
    bool read = false;
    bool arrived = false;
  };
  struct flush_wait {
    std::uint64_t up_to;
    completion* done;
  };
  struct channel { // from one rank to another
    std::set<std::uint64_t> unlanded;
    std::deque<std::shared_ptr<parcel>> parcels;
    std::vector<flush_wait> flushes;
    std::uint64_t ordered = 0; // what has begun up to this one comes before the next message
  };
  struct port { // of one rank
    message_sink* sink = nullptr;
    std::deque<std::shared_ptr<parcel>> inbox;
    std::deque<std::function<void()>> work; // waits for this rank's poll
    std::deque<completion*> finished;
    std::unordered_map<std::uint32_t, channel> to;
    bool rung = false;
  };
  struct transfer { // a put or get
    std::uint32_t me = 0, peer = 0;
    std::byte* there = nullptr;
    bytes_of data;
    std::uint64_t id = 0;
    std::size_t open_pieces = 0;
    completion* done = nullptr;
  };

  void begin(std::uint32_t me, action what);
  std::int64_t& wire_of(std::uint32_t rank);
  std::int64_t arrival(std::uint32_t me, std::uint64_t bytes);
  std::int64_t jitter() { return random_.up_to(options_.chaos.network_ns); }
  void read_source(bool now, std::uint32_t me, std::int64_t before, std::function<void()> read);
  void in_pieces(std::uint64_t bytes, const std::function<void(std::uint64_t, std::uint64_t)>& piece);
  void at_or_by_poll(std::int64_t when, std::uint32_t target, std::function<void()> work);
  void land_put(const std::shared_ptr<transfer>& t, std::int64_t earliest);
  void delivered(std::uint32_t me, std::uint32_t peer, std::uint64_t id);
  void deliver(std::uint32_t me, std::uint32_t peer);
  unsigned do_work(std::uint32_t me, std::size_t most);
  unsigned hand_over(std::uint32_t me, std::size_t most);
  unsigned report(std::uint32_t me, std::size_t most);
  void finish(std::uint32_t me, completion* done);

  const simulation_options& options_;
  seeded_random& random_;
  scheduler& scheduler_;
  memory& memory_;
  std::vector<port> ports_;
  std::vector<std::int64_t> wire_free_at_; // by the first rank of a host
  std::uint64_t ids_ = 0;
  std::uint64_t rings_ = 0;
  std::uint64_t messages_ = 0;
  std::uint64_t bytes_ = 0;
};

} // namespace weft::transport::sim
