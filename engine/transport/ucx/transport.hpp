// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/transport/direct_memory.hpp"
#include "engine/transport/transport.hpp"
#include "engine/transport/ucx/context.hpp"
#include "engine/transport/ucx/cut_transfers.hpp"
#include "engine/transport/ucx/links.hpp"
#include "engine/transport/ucx/remote_memory.hpp"
#include "engine/transport/ucx/segment.hpp"
#include "engine/transport/ucx/sockets.hpp"

#include <chrono>
#include <deque>
#include <functional>
#include <vector>

namespace weft::transport::ucx {

// The real transport: one UCX context and worker, endpoints and remote keys on first use. Direct lane by
// ucp_rkey_ptr, UCP lane by active messages and by put, get and flush: UCX's own with a peer where both
// sides' networks reach memory by themselves, large ones cut, else those of remote_memory. All calls are
// serialised by progress ownership (UCS_THREAD_MODE_SERIALIZED); the memory operations are plain atomics and
// copies.
class ucx_transport : public direct_memory {
public:
  explicit ucx_transport(options o);
  ~ucx_transport();
  ucx_transport(const ucx_transport&) = delete;
  ucx_transport& operator=(const ucx_transport&) = delete;

  // What others need to reach this rank: published through the job before any rank connects.
  std::vector<std::byte> card() const;
  // Nothing is sent or received any more: what is sent from now on is dropped, and no rank is connected to
  // again. Ends the connections in order, for which their other ends must poll, until all have ended or
  // `goes_on` says no; false then. All ranks do so before any of them ends its worker.
  bool close(const std::function<bool()>& goes_on);

  std::uint32_t rank() const { return options_.rank; }
  std::uint32_t size() const { return options_.size; }
  std::byte* segment() const { return segment_.base(); }
  std::uint64_t segment_bytes() const { return options_.segment_bytes; }

  // Connects to a peer, or throws what is wrong with it. The calls below connect by themselves and do not
  // throw: what a user can put right is found out here, when the job begins.
  void meet(std::uint32_t peer) { links_.connect(peer); }

  std::byte* direct(std::uint32_t peer) noexcept {
    link& l = links_[peer];
    if (l.direct == nullptr && options_.near[peer]) [[unlikely]]
      links_.try_connect(peer);
    return l.direct;
  }

  started get(std::uint32_t peer, void* to, std::uint64_t from, std::uint64_t bytes,
              completion& done) noexcept;
  started put(std::uint32_t peer, std::uint64_t to, const void* from, std::uint64_t bytes,
              completion& done) noexcept;
  started push(std::uint32_t peer, std::uint64_t to, const void* from, std::uint64_t bytes,
               completion& done) noexcept;
  bool packs_rows(std::uint32_t peer) noexcept { return links_.ready(peer) == 0 && !links_[peer].by_ucx; }
  started put_rows(std::uint32_t peer, std::uint64_t to, const void* packed, const rows_there& rows,
                   completion& done) noexcept {
    return memory_.puts().put_rows(peer, to, packed, rows, done);
  }
  started get_rows(std::uint32_t peer, void* to, std::uint64_t apart_here, std::uint64_t from,
                   const rows_there& rows, completion& done) noexcept {
    return memory_.gets().get_rows(peer, to, apart_here, from, rows, done);
  }
  started flush(std::uint32_t peer, completion& done) noexcept;
  started order(std::uint32_t peer, completion& done) noexcept;
  started send(std::uint32_t peer, const message& m, const void* payload, std::uint64_t bytes,
               completion& done) noexcept;
  static const char* explain(int status) noexcept;
  unsigned poll() noexcept {
    const unsigned events = ucp_worker_progress(worker_.get());
    return events + memory_.serve();
  }
  // Of large transfers only this starts anything: one piece, or as many as keep a network busy. How many
  // bytes.
  std::uint64_t carry() noexcept { return cut_.carry(); }
  bool carries() const noexcept { return !cut_.idle(); }
  void ring(std::uint32_t peer) noexcept;
  // The rank is dead: nothing is sent to it any more, and whatever is in flight to it finishes, with an
  // error.
  void abandon(std::uint32_t peer) noexcept;
  // Nothing can be sent to it any more, though UCX has not said so: the same as if it had.
  void report_loss(std::uint32_t peer) noexcept { links_.report_loss(peer); }
  bool lost(std::uint32_t peer) const noexcept { return links_[peer].lost; }
  // Over sockets: is there a connection whose other end should answer and does not? Any thread.
  bool has_silent_connections() const { return !silent_sockets(event_fd_).empty(); }
  // Ends them, for UCX to find them broken. Under progress ownership: no rank closes one meanwhile.
  std::vector<silent_socket> end_silent_connections();
  void set_sink(message_sink* sink) { sink_ = sink; }
  bool arm() noexcept { return memory_.idle() && cut_.idle() && ucp_worker_arm(worker_.get()) == UCS_OK; }
  int event_fd() const { return event_fd_; }
  // By put and get of the network's own; else by messages, over sockets.
  bool reaches_memory() const noexcept { return context_.reaches_memory; }
  bool polls_by_calls() const noexcept { return !reaches_memory(); }
  void nap(std::chrono::nanoseconds limit);

private:
  struct wire_header {
    std::uint64_t job_key;
    std::uint32_t version;
    std::uint32_t arrived; // of the target's puts, see remote_memory
    message m;
  };
  // A message whose header must stay until it is sent.
  struct outgoing {
    wire_header header;
    completion* done = nullptr;
    ucx_transport* owner = nullptr;
    outgoing* next_free = nullptr;
  };

  options watched(options o);
  static started settle(void* request) noexcept;
  outgoing* take_outgoing() noexcept;
  void give_back(outgoing* o) noexcept {
    o->next_free = free_;
    free_ = o;
  }
  static void sent(void* request, ucs_status_t status, void* user) noexcept;
  static ucs_status_t received(void* self, const void* header, std::size_t header_bytes, void* data,
                               std::size_t bytes, const ucp_am_recv_param_t* param) noexcept;

  options options_;
  opened_context context_;
  ucx::segment segment_;
  worker_ptr worker_;
  links links_;
  remote_memory memory_;
  cut_transfers cut_;
  message_sink* sink_ = nullptr;
  int event_fd_ = -1;
  std::deque<outgoing> messages_;
  outgoing* free_ = nullptr;
  completion unwatched_{[](completion*, int) {}};
};

} // namespace weft::transport::ucx
