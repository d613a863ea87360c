#pragma once
#include "engine/memory/heap.hpp"
#include "engine/transport/ucx/transport.hpp"
#include "progress/driving/engine.hpp"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

namespace weft::api {

// The shared heap of the job. It has two regions, at the same offsets on every rank:
//   symmetric  what upc_all_alloc and upc_global_alloc hand out: a range that means memory on every
//              rank. Rank 0 keeps the books for all, so that single-handed allocations and
//              frees cannot let two ranks' books differ; a collective allocation costs
//              one 8-byte broadcast, the others a message to rank 0
//              and back.
//   local      what upc_alloc hands out: each rank keeps its own books; others ask it to free.
// Beside them lies the memory of teams (their boards), which rank 0 hands out the same way, each with a
// number that no other team of the run has. Requests are served inside the transport's poll, by whoever
// drives the engine of the keeper. A free by one thread waits for the keeper's answer: only the books know
// whether there is such a block, and who frees something else must hear of it from the call.
class heap_service {
public:
  using engine_type = progress::engine<transport::ucx::ucx_transport>;

  struct layout {
    std::uint64_t scratch; // two words of every rank's segment, for the broadcast of a collective allocation
    std::uint64_t boards, board_bytes;
    std::uint64_t heap, heap_bytes;
  };
  heap_service(engine_type& engine, progress::team_state& all, const layout& l);

  std::uint64_t allocate_all(std::uint64_t bytes);
  std::uint64_t allocate_global(std::uint64_t bytes);
  std::uint64_t allocate_local(std::uint64_t bytes);
  std::uint64_t free_block(std::uint32_t rank, std::uint64_t offset);
  std::uint64_t free_block_of_all(std::uint32_t rank, std::uint64_t offset);
  bool contains(std::uint64_t offset, weft::engine::checked bytes) const {
    const std::uint64_t end = offset < local_begin_ ? local_begin_ : end_; // nothing lies in both regions
    return offset >= begin_ && offset < end && bytes <= end - offset;
  }
  bool contains_symmetric(std::uint64_t offset, weft::engine::checked bytes) const {
    return offset >= begin_ && offset < local_begin_ && bytes <= local_begin_ - offset;
  }

  struct board_grant {
    std::uint64_t offset = 0; // 0 = no room
    std::uint64_t number = 0;
  };
  // Where there is no room, asks again until there is, or `patience` is over: memory may be on its way back.
  board_grant allocate_board(std::uint64_t bytes, std::chrono::nanoseconds patience);
  void free_board(std::uint64_t offset);

  // The rank is dead: what it was asked for it will not grant. Any thread.
  void lose(std::uint32_t rank);
  // True if the message was a request or an answer of this service.
  bool on_request(const transport::message& m);
  // Under the baton. False for want of memory.
  bool send(std::uint32_t rank, std::uint32_t kind, std::uint64_t value, std::uint64_t ticket = 0,
            std::uint32_t number = 0);

private:
  enum class wish : std::uint32_t {
    allocate,
    allocate_board,
    granted,
    free_symmetric,
    free_local,
    free_board,
  };
  static constexpr std::uint32_t wishes = 6;

  std::uint64_t locked_allocate(engine::heap& h, std::uint64_t bytes);
  std::uint64_t locked_free(engine::heap& h, std::uint64_t offset);
  board_grant locked_board(std::uint64_t bytes);
  board_grant ask(std::uint32_t keeper, wish w, std::uint64_t value);
  // The collective call that a broadcast is a part of, and what all must say alike.
  struct collective_step {
    collectives::caller call;
    std::uint64_t argument;
    graph::sync in;
  };
  std::uint64_t broadcast(std::uint64_t mine, std::uint32_t root, const collective_step& of);
  void answer(const transport::message& to, board_grant granted);
  bool tell(std::uint32_t rank, wish w, std::uint64_t value, std::uint64_t ticket = 0,
            std::uint32_t number = 0) {
    return send(rank, static_cast<std::uint32_t>(w), value, ticket, number);
  }

  engine_type& engine_;
  progress::team_state& all_;
  std::uint64_t scratch_, begin_, local_begin_, end_;
  std::mutex books_;
  engine::heap symmetric_, local_, boards_;
  std::uint32_t numbers_ = 2; // 0 is the team of all, 1 the node's
  std::mutex one_request_;    // a rank has one allocation under way
  std::atomic<std::uint64_t> answered_{0};
  std::vector<std::atomic<bool>> lost_ = std::vector<std::atomic<bool>>(all_.info.size()); // by rank
  board_grant answer_;
  std::uint64_t tickets_ = 0;
};

} // namespace weft::api
