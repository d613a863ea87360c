// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/out_of_memory.hpp"
#include "engine/transport/transport.hpp"
#include "progress/execution/channel.hpp"
#include "progress/execution/operation.hpp"

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

} // namespace weft::progress
