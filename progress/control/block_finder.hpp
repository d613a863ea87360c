// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/control/inquiries.hpp"

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace weft::control {

// Checked mode: which block is at a place of any rank's memory. The rank that keeps the books of the place is
// asked; its engine answers whatever its application is about.
//
// Of ranks of this host, what they have said last is remembered, with the version of their books. The word of
// the version lies in their memory: as long as it is the same, nothing has been allocated or freed. A rank
// that has heard that a block was freed (by a barrier, a lock, a flag) finds it moved: it is stored with
// release before the call that frees ends, and loaded with acquire.
template <transport::transport T> class block_finder {
public:
  using engine_type = progress::engine<T>;
  using block = engine::heap::block;

  // `near` has the segments that are reached by loads and stores, by rank; null: not reached so.
  block_finder(engine_type& engine, heap_service<T>& heap, inquiries<T>& asked, std::vector<std::byte*> near)
      : engine_(engine), heap_(heap), asked_(asked), near_(std::move(near)) {}

  // The last one that begins there or before it; {0, 0} if none does. Nothing if no rank knows any more: the
  // rank that would is dead.
  std::optional<block> below(std::uint32_t rank, std::uint64_t offset) {
    const std::uint32_t keeper = heap_.keeper_of(rank, offset);
    if (keeper == engine_.net().rank()) {
      serve_others();
      return heap_.look_up(offset).below;
    }
    if (const auto known = remembered(keeper, offset)) return known;
    if (heap_.lost(keeper)) return std::nullopt;
    try {
      const auto said = asked_.ask(keeper, find_block{.offset = offset});
      const block found{said.value[0], said.value[1]};
      if (near_[keeper] != nullptr) remember({keeper, found, said.status});
      return found;
    } catch (const progress::operation_error&) { // it has died meanwhile
      return std::nullopt;
    }
  }

  void on_request(std::uint32_t from, const find_block& r) {
    const auto e = heap_.look_up(r.offset);
    asked_.answer(from, r.id, {e.version, {e.below.begin, e.below.bytes}});
  }

private:
  struct memory {
    std::uint32_t keeper = 0;
    block of;
    std::uint64_t version = 0;
  };

  // A thread that looks at its own memory again and again, and no other rank drives.
  void serve_others() {
    if (engine_.options().drive == progress::mode::caller && engine_.net().size() > 1 &&
        !progress::running_user_code)
      engine_.progress();
  }

  std::optional<block> remembered(std::uint32_t keeper, std::uint64_t offset) {
    if (near_[keeper] == nullptr) return std::nullopt;
    const std::uint64_t now = heap_.version_at(near_[keeper]).load(std::memory_order_acquire);
    const std::lock_guard lock(lock_);
    for (const memory& m : last_)
      if (m.keeper == keeper && m.version == now && offset - m.of.begin < m.of.bytes) return m.of;
    return std::nullopt;
  }
  void remember(const memory& m) {
    const std::lock_guard lock(lock_);
    last_[next_++ % last_.size()] = m;
  }

  engine_type& engine_;
  heap_service<T>& heap_;
  inquiries<T>& asked_;
  const std::vector<std::byte*> near_;
  std::mutex lock_; // of both
  std::array<memory, 16> last_{};
  std::size_t next_ = 0;
};

} // namespace weft::control
