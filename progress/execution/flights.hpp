// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/linked_items.hpp"
#include "engine/memory/mailbox.hpp"
#include "engine/out_of_memory.hpp"
#include "engine/transport/transport.hpp"
#include "progress/execution/channel.hpp"
#include "progress/execution/operation.hpp"

#include <array>
#include <cstring>
#include <span>
#include <vector>

namespace weft::progress {

// Where in an operation a transport request belongs: a top node, or an iteration of a loop.
struct flight_tag {
  std::uint8_t node = 0; // index of the top node
  bool in_loop = false;
  bool moves_on = true; // else the operation only must not end before it, nor go well if it fails
  std::uint32_t iteration = 0;
};

// One transport request of a node that could not finish at once.
struct flight : transport::completion {
  operation* op = nullptr;
  flight_tag tag;
  std::uint32_t peer = 0; // member of the operation's team
  void* owner = nullptr;
  flight* next = nullptr;
};

// The requests in flight of one executor, capped for the whole rank: what does not get one waits for its
// turn. Under progress ownership, completions included.
template <class T> class flight_pool {
public:
  static constexpr std::size_t cap = 1024;

  explicit flight_pool(T&) : all_(cap) {
    for (flight& f : all_) {
      f.next = free_;
      f.owner = this;
      f.done = &delivered;
      free_ = &f;
    }
  }
  flight_pool(const flight_pool&) = delete;
  flight_pool& operator=(const flight_pool&) = delete;

  // Asks the transport, by `ask`, for something that a completion ends.
  template <class Ask> outcome request(operation& op, std::uint32_t peer, flight_tag tag, Ask&& ask) {
    flight* const f = start(op, peer, tag);
    return f == nullptr ? outcome::blocked : settle(f, ask(*f));
  }

  std::size_t in_flight() const { return in_flight_; }

private:
  flight* start(operation& op, std::uint32_t peer, flight_tag tag) {
    flight* f = free_;
    if (f == nullptr) return nullptr;
    free_ = f->next;
    f->op = &op;
    f->peer = peer;
    f->tag = tag;
    return f;
  }

  // After the transport was asked: gives the request back unless it is under way. What there was no memory
  // for is asked again later.
  outcome settle(flight* f, transport::started came) {
    if (came.under_way()) {
      ++f->op->flights;
      ++in_flight_;
      return outcome::flying;
    }
    release(f);
    if (came.done()) [[likely]]
      return outcome::done;
    if (came.status() == transport::no_memory)
      shortage_.met("a transfer");
    else
      failed(*f, came.status());
    return outcome::blocked;
  }

  void release(flight* f) {
    f->next = free_;
    free_ = f;
  }

  static void delivered(transport::completion* c, int status) {
    flight* f = static_cast<flight*>(c);
    auto* pool = static_cast<flight_pool*>(f->owner);
    operation& op = *f->op;
    --op.flights;
    --pool->in_flight_;
    pool->shortage_.over();
    if (status < 0) [[unlikely]]
      failed(*f, status);
    if (f->tag.moves_on) advance(op, f->tag);
    pool->release(f);
  }

  static void failed(const flight& f, int status) noexcept {
    const engine::team_info& team = f.op->channel->info;
    f.op->fail(status, team.world[f.peer], team.world[team.me()]);
  }

  static void advance(operation& op, flight_tag tag) {
    execution& run = *op.run;
    run.watch.armed = false;
    if (!tag.in_loop) {
      run.finish(*op.program, tag.node);
      return;
    }
    loop_state& loop = run.loops[op.program->nodes[tag.node].loop_index];
    loop.in_flight &= ~(std::uint64_t{1} << (tag.iteration - loop.base));
    ++loop.step[tag.iteration % loop_state::window];
  }

  std::vector<flight> all_;
  flight* free_ = nullptr;
  std::size_t in_flight_ = 0;
  engine::shortage shortage_;
};

// Messages that belong to no operation of the sender: answers, requests for credit, news of a failure. No
// thread here waits for their end, and another rank may wait for them for ever. So one that could not be sent
// is kept, and sent again at later sweeps. After `patience` its receiver counts as lost. They may be sent
// twice, and arrive in another order: none of them minds. Under progress ownership.
template <transport::transport T> class notices {
public:
  // `later` is raised as long as there is something to be sent again.
  notices(T& net, bool& later) : net_(net), later_(later) {}
  notices(const notices&) = delete;
  notices& operator=(const notices&) = delete;

  // Keeps a copy of the payload. False if there is no memory for that.
  bool send(std::uint32_t rank, const transport::message& m, std::span<const std::byte> payload = {}) {
    notice* const n = all_.take();
    if (n == nullptr) [[unlikely]]
      return false;
    n->owner = this;
    n->done = [](transport::completion* c, int status) {
      auto& sent = *static_cast<notice*>(c);
      sent.owner->settle(sent, status);
    };
    n->rank = rank;
    n->what = m;
    n->bytes = payload.size();
    if (!payload.empty()) std::memcpy(n->payload.data(), payload.data(), payload.size());
    send(*n);
    return true;
  }

  [[gnu::cold, gnu::noinline]] void send_again() {
    notice* n = unsent_;
    unsent_ = nullptr;
    while (n != nullptr) {
      notice* const next = n->next;
      send(*n);
      n = next;
    }
    if (unsent_ == nullptr) failing_since_ = std::chrono::nanoseconds(0);
  }

private:
  static constexpr std::chrono::seconds patience{5};

  struct notice : transport::completion {
    notices* owner = nullptr;
    notice* next = nullptr; // in the list of the free or of the unsent
    std::uint32_t rank = 0;
    transport::message what;
    std::size_t bytes = 0;
    std::array<std::byte, sizeof(weft::engine::mailbox::dispute_lines)> payload; // the longest
  };

  void send(notice& n) {
    const transport::started came = net_.send(n.rank, n.what, n.payload.data(), n.bytes, n);
    if (!came.under_way()) settle(n, came.status());
  }

  void settle(notice& n, int status) noexcept {
    if (status < 0 && !gone(n.rank)) [[unlikely]]
      return keep(n, status);
    all_.give_back(n);
  }

  [[gnu::cold, gnu::noinline]] void keep(notice& n, int status) noexcept {
    n.next = unsent_;
    unsent_ = &n;
    later_ = true;
    if (failing_since_.count() == 0) failing_since_ = net_.now();
    if (net_.now() - failing_since_ < patience) return;
    if (status == transport::no_memory) weft::engine::end_out_of_memory("an answer to another rank");
    if constexpr (requires { net_.report_loss(n.rank); }) net_.report_loss(n.rank);
  }

  bool gone(std::uint32_t rank) const noexcept {
    if constexpr (requires { net_.lost(rank); })
      return net_.lost(rank);
    else
      return false;
  }

  T& net_;
  bool& later_;
  weft::engine::item_pool<notice> all_;
  notice* unsent_ = nullptr;
  std::chrono::nanoseconds failing_since_{0}; // 0: nothing is to be sent again
};

} // namespace weft::progress
