#include "api/runtime_heap.hpp"

#include <spdlog/spdlog.h>

namespace weft::api {

heap_service::heap_service(engine_type& engine, progress::team_state& all, std::uint64_t scratch,
                           std::uint64_t begin, std::uint64_t bytes)
    : engine_(engine), all_(all), scratch_(scratch), begin_(begin), end_(begin + 2 * bytes),
      symmetric_(begin, begin + bytes), local_(begin + bytes, begin + 2 * bytes) {
  engine_.serve([this](const transport::message& m, std::span<const std::byte>) { on_request(m); });
}

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
  engine_.run(all_, r, scratch_ + sizeof(std::uint64_t), scratch_);
  std::uint64_t granted = 0;
  std::memcpy(&granted, base + sizeof granted, sizeof granted);
  return granted;
}

std::uint64_t heap_service::allocate_global(std::uint64_t bytes) {
  if (engine_.net().rank() == 0) return locked_allocate(symmetric_, bytes);
  const std::lock_guard lock(one_request_);
  const std::uint64_t ticket = ++tickets_;
  engine_.with_baton([&] { tell(0, wish::allocate, bytes, ticket); });
  engine_.drive_until([&] { return answered_.load(std::memory_order_acquire) == ticket; });
  return answer_.load(std::memory_order_relaxed);
}

std::uint64_t heap_service::allocate_local(std::uint64_t bytes) {
  return locked_allocate(local_, bytes);
}

void heap_service::free_block(std::uint32_t rank, std::uint64_t offset) {
  const bool is_local = local_.contains(offset);
  const std::uint32_t keeper = is_local ? rank : 0;
  if (keeper == engine_.net().rank()) return locked_free(is_local ? local_ : symmetric_, offset);
  engine_.with_baton([&] { tell(keeper, is_local ? wish::free_local : wish::free_symmetric, offset, 0); });
}

bool heap_service::contains(std::uint64_t offset, std::uint64_t bytes) const {
  return offset >= begin_ && offset < end_ && bytes <= end_ - offset;
}

void heap_service::tell(std::uint32_t rank, wish w, std::uint64_t value, std::uint64_t ticket) {
  transport::message m;
  m.kind = transport::message_kind::service;
  m.source = engine_.net().rank();
  m.count = static_cast<std::uint32_t>(w);
  m.seq = value;
  m.retired = ticket;
  engine_.net().send(rank, m, nullptr, 0, unwatched_);
}

void heap_service::on_request(const transport::message& m) {
  switch (static_cast<wish>(m.count)) {
  case wish::allocate:
    tell(m.source, wish::granted, locked_allocate(symmetric_, m.seq), m.retired);
    break;
  case wish::granted:
    answer_.store(m.seq, std::memory_order_relaxed);
    answered_.store(m.retired, std::memory_order_release);
    break;
  case wish::free_symmetric:
    locked_free(symmetric_, m.seq);
    break;
  case wish::free_local:
    locked_free(local_, m.seq);
    break;
  }
}

} // namespace weft::api
