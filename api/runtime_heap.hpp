#pragma once
#include "engine/memory/heap.hpp"
#include "engine/transport/ucx/transport.hpp"
#include "progress/engine.hpp"

#include <cstdint>
#include <mutex>

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
// drives the engine of the keeper.
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
  void free_block(std::uint32_t rank, std::uint64_t offset);
  bool contains(std::uint64_t offset, std::uint64_t bytes) const;

  struct board_grant {
    std::uint64_t offset = 0; // 0 = no room
    std::uint64_t number = 0;
  };
  board_grant allocate_board(std::uint64_t bytes);
  void free_board(std::uint64_t offset);

  // True if the message was a request or an answer of this service.
  bool on_request(const transport::message& m);
  void send(std::uint32_t rank, std::uint32_t kind, std::uint64_t value, std::uint64_t ticket = 0,
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
  void locked_free(engine::heap& h, std::uint64_t offset);
  board_grant locked_board(std::uint64_t bytes);
  board_grant ask_keeper(wish w, std::uint64_t bytes);
  void tell(std::uint32_t rank, wish w, std::uint64_t value, std::uint64_t ticket = 0,
            std::uint32_t number = 0) {
    send(rank, static_cast<std::uint32_t>(w), value, ticket, number);
  }

  engine_type& engine_;
  progress::team_state& all_;
  std::uint64_t scratch_, begin_, end_;
  std::mutex books_;
  engine::heap symmetric_, local_, boards_;
  std::uint32_t numbers_ = 2; // 0 is the team of all, 1 the node's
  std::mutex one_request_;    // a rank has one allocation under way
  std::atomic<std::uint64_t> answered_{0};
  board_grant answer_;
  std::uint64_t tickets_ = 0;
  transport::completion unwatched_{[](transport::completion*, int) {}};
};

} // namespace weft::api
