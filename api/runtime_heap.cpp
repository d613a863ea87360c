#include "api/runtime_heap.hpp"

#include <spdlog/spdlog.h>

namespace weft::api {

heap_service::heap_service(engine_type& engine, progress::team_state& all, const layout& l)
    : engine_(engine), all_(all), scratch_(l.scratch), begin_(l.heap), end_(l.heap + 2 * l.heap_bytes),
      symmetric_(l.heap, l.heap + l.heap_bytes), local_(l.heap + l.heap_bytes, l.heap + 2 * l.heap_bytes),
      boards_(l.boards, l.boards + l.board_bytes) {}

std::uint64_t heap_service::locked_allocate(engine::heap& h, std::uint64_t bytes) {
  const std::lock_guard lock(books_);
  return h.allocate(bytes);
}

void heap_service::locked_free(engine::heap& h, std::uint64_t offset) {
  const std::lock_guard lock(books_);
  if (!h.free(offset)) spdlog::warn("upc_free: offset {:#x} is not allocated; it was freed before", offset);
}

std::uint64_t heap_service::allocate_all(std::uint64_t bytes) {
  std::byte* base = engine_.net().segment() + scratch_;
  if (all_.info.me() == 0) {
    const std::uint64_t granted = locked_allocate(symmetric_, bytes);
    std::memcpy(base, &granted, sizeof granted);
  }
  collectives::request r;
  r.op = collectives::operation::broadcast;
  r.in = r.out = graph::sync::my;
  r.bytes = sizeof(std::uint64_t);
  engine_.run(all_, r, {.dst = scratch_ + sizeof(std::uint64_t), .src = scratch_});
  std::uint64_t granted = 0;
  std::memcpy(&granted, base + sizeof granted, sizeof granted);
  return granted;
}

std::uint64_t heap_service::allocate_global(std::uint64_t bytes) {
  if (engine_.net().rank() == 0) return locked_allocate(symmetric_, bytes);
  return ask_keeper(wish::allocate, bytes).offset;
}

heap_service::board_grant heap_service::allocate_board(std::uint64_t bytes) {
  return engine_.net().rank() == 0 ? locked_board(bytes) : ask_keeper(wish::allocate_board, bytes);
}

void heap_service::free_board(std::uint64_t offset) {
  if (engine_.net().rank() == 0) return locked_free(boards_, offset);
  tell(0, wish::free_board, offset);
}

heap_service::board_grant heap_service::locked_board(std::uint64_t bytes) {
  const std::lock_guard lock(books_);
  const std::uint64_t offset = boards_.allocate(bytes);
  return {offset, offset == 0 ? 0 : numbers_++};
}

heap_service::board_grant heap_service::ask_keeper(wish w, std::uint64_t bytes) {
  const std::lock_guard lock(one_request_);
  const std::uint64_t ticket = ++tickets_;
  engine_.with_baton([&] { tell(0, w, bytes, ticket); });
  engine_.drive_until([&] { return answered_.load(std::memory_order_acquire) == ticket; });
  return answer_;
}

std::uint64_t heap_service::allocate_local(std::uint64_t bytes) {
  return locked_allocate(local_, bytes);
}

void heap_service::free_block(std::uint32_t rank, std::uint64_t offset) {
  const bool is_local = local_.contains(offset);
  const std::uint32_t keeper = is_local ? rank : 0;
  if (keeper == engine_.net().rank()) return locked_free(is_local ? local_ : symmetric_, offset);
  engine_.with_baton([&] { tell(keeper, is_local ? wish::free_local : wish::free_symmetric, offset); });
}

bool heap_service::contains(std::uint64_t offset, std::uint64_t bytes) const {
  return offset >= begin_ && offset < end_ && bytes <= end_ - offset;
}

void heap_service::send(std::uint32_t rank, std::uint32_t kind, std::uint64_t value, std::uint64_t ticket,
                        std::uint32_t number) {
  transport::message m;
  m.kind = transport::message_kind::service;
  m.source = engine_.net().rank();
  m.count = kind;
  m.seq = value;
  m.retired = ticket;
  m.team = number;
  engine_.net().send(rank, m, nullptr, 0, unwatched_);
}

bool heap_service::on_request(const transport::message& m) {
  if (m.count >= wishes) return false;
  switch (static_cast<wish>(m.count)) {
  case wish::allocate:
    tell(m.source, wish::granted, locked_allocate(symmetric_, m.seq), m.retired);
    break;
  case wish::allocate_board: {
    const board_grant board = locked_board(m.seq);
    tell(m.source, wish::granted, board.offset, m.retired, static_cast<std::uint32_t>(board.number));
    break;
  }
  case wish::granted:
    answer_ = {m.seq, m.team};
    answered_.store(m.retired, std::memory_order_release);
    break;
  case wish::free_symmetric:
    locked_free(symmetric_, m.seq);
    break;
  case wish::free_local:
    locked_free(local_, m.seq);
    break;
  case wish::free_board:
    locked_free(boards_, m.seq);
    break;
  }
  return true;
}

} // namespace weft::api
