#pragma once
#include "engine/transport/direct_memory.hpp"
#include "engine/transport/message.hpp"
#include "engine/transport/ucx/handles.hpp"
#include "engine/transport/ucx/segment.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

namespace weft::transport::ucx {

struct options {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::uint64_t job_key = 0; // in every header: a message of another job is dropped
  std::size_t segment_bytes = 0;
  bool one_host = true;   // no network transport is opened then
  std::vector<bool> near; // by rank: its memory is to be reached by loads and stores
  // The card of another rank, as made by card() there.
  std::function<std::vector<std::byte>(std::uint32_t rank)> card_of;
};

// The real transport: one UCX context and worker, endpoints and remote keys on first use. Direct lane by
// ucp_rkey_ptr, UCP lane by put, get, flush and active messages. All calls are serialised by the baton
// (UCS_THREAD_MODE_SERIALIZED); the memory operations are plain atomics and copies.
class ucx_transport : public direct_memory {
public:
  explicit ucx_transport(options o);
  ~ucx_transport();
  ucx_transport(const ucx_transport&) = delete;
  ucx_transport& operator=(const ucx_transport&) = delete;

  // What others need to reach this rank: published through the job before anybody connects.
  std::vector<std::byte> card() const;
  // Closes the endpoints; all ranks do so before any of them ends its worker.
  void disconnect();

  std::uint32_t rank() const { return options_.rank; }
  std::uint32_t size() const { return options_.size; }
  std::byte* segment() const { return segment_.base(); }

  std::byte* direct(std::uint32_t peer) {
    link& l = links_[peer];
    if (l.direct != nullptr) [[likely]]
      return l.direct;
    return options_.near[peer] ? connect(peer).direct : nullptr;
  }

  bool get(std::uint32_t peer, void* to, std::uint64_t from, std::uint64_t bytes, completion& done);
  bool put(std::uint32_t peer, std::uint64_t to, const void* from, std::uint64_t bytes, completion& done);
  bool flush(std::uint32_t peer, completion& done);
  bool send(std::uint32_t peer, const message& m, const void* payload, std::uint64_t bytes, completion& done);
  unsigned poll() { return ucp_worker_progress(worker_.get()); }
  void ring(std::uint32_t peer);
  void set_sink(message_sink* sink) { sink_ = sink; }
  bool arm() { return ucp_worker_arm(worker_.get()) == UCS_OK; }
  int event_fd() const { return event_fd_; }
  void nap(std::chrono::nanoseconds limit);

private:
  struct link {
    std::byte* direct = nullptr;
    ucp_ep_h endpoint = nullptr;
    rkey_ptr rkey;
    std::uint64_t remote_base = 0;
  };
  struct wire_header {
    std::uint64_t job_key;
    std::uint32_t version;
    std::uint32_t reserved;
    message m;
  };
  // A message whose header must stay until it is sent.
  struct outgoing {
    wire_header header;
    completion* done = nullptr;
    ucx_transport* owner = nullptr;
    outgoing* next_free = nullptr;
  };

  link& connect(std::uint32_t peer);
  link& linked(std::uint32_t peer) {
    link& l = links_[peer];
    return l.endpoint != nullptr ? l : connect(peer);
  }
  static bool settle(void* request);
  outgoing* take_outgoing();
  void give_back(outgoing* o) {
    o->next_free = free_;
    free_ = o;
  }
  static void completed(void* request, ucs_status_t status, void* user);
  static void sent(void* request, ucs_status_t status, void* user);
  static ucs_status_t received(void* self, const void* header, std::size_t header_bytes, void* data,
                               std::size_t bytes, const ucp_am_recv_param_t* param);

  options options_;
  context_ptr context_;
  ucx::segment segment_;
  worker_ptr worker_;
  std::vector<link> links_;
  message_sink* sink_ = nullptr;
  int event_fd_ = -1;
  std::deque<outgoing> messages_;
  outgoing* free_ = nullptr;
  completion unwatched_{[](completion*, int) {}};
};

} // namespace weft::transport::ucx
