#include "api/runtime/heap.hpp"

#include "progress/execution/operation_error.hpp"

#include <spdlog/spdlog.h>

#include <new>

namespace weft::api {

heap_service::heap_service(engine_type& engine, progress::team_state& all, const layout& l)
    : engine_(engine), all_(all), scratch_(l.scratch), begin_(l.heap), local_begin_(l.heap + l.heap_bytes),
      end_(l.heap + 2 * l.heap_bytes), symmetric_(l.heap, l.heap + l.heap_bytes),
      local_(l.heap + l.heap_bytes, l.heap + 2 * l.heap_bytes), boards_(l.boards, l.boards + l.board_bytes) {}

std::uint64_t heap_service::locked_allocate(engine::heap& h, std::uint64_t bytes) {
  const std::lock_guard lock(books_);
  try {
    return h.allocate(bytes);
  } catch (const std::bad_alloc&) { // of the books: others ask, too, and are told that there is no room
    return 0;
  }
}

// What runtime::free_block says.
std::uint64_t heap_service::locked_free(engine::heap& h, std::uint64_t offset) {
  const std::lock_guard lock(books_);
  return h.free(offset) ? offset : h.block_of(offset);
}

// The word of the root, on all. A broadcast looks for no sizes: in their place stands what all must say
// alike.
std::uint64_t heap_service::broadcast(std::uint64_t mine, std::uint32_t root, const collective_step& of) {
  std::byte* base = engine_.net().segment() + scratch_;
  if (all_.info.me() == root) std::memcpy(base, &mine, sizeof mine);
  collectives::request r;
  r.op = collectives::operation::broadcast;
  r.root = root;
  r.in = of.in;
  r.out = graph::sync::my;
  r.bytes = sizeof mine;
  r.by = of.call;
  engine_.run(all_, r, {.dst = scratch_ + sizeof mine, .src = scratch_, .sizes = of.argument});
  std::uint64_t word = 0;
  std::memcpy(&word, base + sizeof word, sizeof word);
  return word;
}

std::uint64_t heap_service::allocate_all(std::uint64_t bytes) {
  const std::uint64_t granted = all_.info.me() == 0 ? locked_allocate(symmetric_, bytes) : 0;
  return broadcast(granted, 0, {collectives::caller::all_alloc, bytes, graph::sync::my});
}

// The keeper looks up the block when it enters, tells all, and frees it when all have entered.
std::uint64_t heap_service::free_block_of_all(std::uint32_t rank, std::uint64_t offset) {
  engine::heap& h = local_.contains(offset) ? local_ : symmetric_;
  const std::uint32_t keeper = local_.contains(offset) ? rank : 0;
  const bool mine = keeper == engine_.net().rank();
  std::uint64_t block = 0;
  if (mine) {
    const std::lock_guard lock(books_);
    block = h.block_of(offset);
  }
  block = broadcast(block, keeper, {collectives::caller::all_free, offset, graph::sync::all});
  if (mine && block == offset) locked_free(h, offset);
  return block;
}

std::uint64_t heap_service::allocate_global(std::uint64_t bytes) {
  if (engine_.net().rank() == 0) return locked_allocate(symmetric_, bytes);
  return ask(0, wish::allocate, bytes).offset;
}

heap_service::board_grant heap_service::allocate_board(std::uint64_t bytes,
                                                       std::chrono::nanoseconds patience) {
  constexpr std::chrono::milliseconds between_attempts{1};
  const auto attempt = [&] {
    return engine_.net().rank() == 0 ? locked_board(bytes) : ask(0, wish::allocate_board, bytes);
  };
  board_grant grant = attempt();
  for (const auto end = engine_.net().now() + patience; grant.offset == 0 && engine_.net().now() < end;) {
    const auto next = engine_.net().now() + between_attempts;
    engine_.drive_until([&] { return engine_.net().now() >= next; });
    grant = attempt();
  }
  return grant;
}

void heap_service::free_board(std::uint64_t offset) {
  if (engine_.net().rank() == 0)
    locked_free(boards_, offset);
  else
    static_cast<void>(tell(0, wish::free_board, offset)); // else the block is lost, and nobody waits for it
}

heap_service::board_grant heap_service::locked_board(std::uint64_t bytes) {
  const std::uint64_t offset = locked_allocate(boards_, bytes);
  const std::lock_guard lock(books_);
  return {offset, offset == 0 ? 0 : numbers_++};
}

heap_service::board_grant heap_service::ask(std::uint32_t keeper, wish w, std::uint64_t value) {
  const std::lock_guard lock(one_request_);
  const std::uint64_t ticket = ++tickets_;
  bool asked = false;
  engine_.with_baton([&] { asked = tell(keeper, w, value, ticket); });
  if (!asked) throw std::bad_alloc();
  const auto answered = [&] { return answered_.load(std::memory_order_acquire) == ticket; };
  engine_.drive_until([&] { return answered() || lost_[keeper].load(std::memory_order_relaxed); });
  if (!answered())
    throw progress::operation_error("thread " + std::to_string(keeper) +
                                    ", which keeps the books of this memory, has died");
  return answer_;
}

void heap_service::lose(std::uint32_t rank) {
  lost_[rank].store(true, std::memory_order_relaxed);
}

std::uint64_t heap_service::allocate_local(std::uint64_t bytes) {
  return locked_allocate(local_, bytes);
}

std::uint64_t heap_service::free_block(std::uint32_t rank, std::uint64_t offset) {
  const bool is_local = local_.contains(offset);
  const std::uint32_t keeper = is_local ? rank : 0;
  if (keeper == engine_.net().rank()) return locked_free(is_local ? local_ : symmetric_, offset);
  return ask(keeper, is_local ? wish::free_local : wish::free_symmetric, offset).offset;
}

bool heap_service::send(std::uint32_t rank, std::uint32_t kind, std::uint64_t value, std::uint64_t ticket,
                        std::uint32_t number) {
  transport::message m;
  m.kind = transport::message_kind::service;
  m.source = engine_.net().rank();
  m.count = kind;
  m.seq = value;
  m.retired = ticket;
  m.team = number;
  return engine_.works().members().unasked().send(rank, m);
}

void heap_service::answer(const transport::message& to, board_grant granted) {
  if (!tell(to.source, wish::granted, granted.offset, to.retired, static_cast<std::uint32_t>(granted.number)))
    engine::end_out_of_memory("an answer to another rank");
}

bool heap_service::on_request(const transport::message& m) {
  if (m.count >= wishes) return false;
  switch (static_cast<wish>(m.count)) {
  case wish::allocate:
    answer(m, {locked_allocate(symmetric_, m.seq), 0});
    break;
  case wish::allocate_board:
    answer(m, locked_board(m.seq));
    break;
  case wish::granted:
    answer_ = {m.seq, m.team};
    answered_.store(m.retired, std::memory_order_release);
    break;
  case wish::free_symmetric:
    answer(m, {locked_free(symmetric_, m.seq), 0});
    break;
  case wish::free_local:
    answer(m, {locked_free(local_, m.seq), 0});
    break;
  case wish::free_board:
    locked_free(boards_, m.seq);
    break;
  }
  return true;
}

} // namespace weft::api
