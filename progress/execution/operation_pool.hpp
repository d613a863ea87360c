// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/collectives/request.hpp"
#include "engine/linked_items.hpp"
#include "progress/execution/completion_table.hpp"
#include "progress/execution/operation.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <vector>

namespace weft::progress {

// One item for every slot of the completion table, in chunks that are made when first needed and never move.
// The owner of a slot owns its item, so there is nothing to lock but the making of a chunk.
template <class Item> class slot_pool {
public:
  static constexpr std::size_t chunk_size = completion_table::chunk_slots;
  // What an outstanding operation takes, here and in the completion table.
  static constexpr std::size_t bytes_of_each = sizeof(Item) + completion_table::slot_bytes;

  slot_pool() = default;
  ~slot_pool() {
    for (auto& chunk : chunks_)
      delete[] chunk.load(std::memory_order_relaxed);
  }
  slot_pool(const slot_pool&) = delete;
  slot_pool& operator=(const slot_pool&) = delete;

  Item& at(std::uint32_t slot) {
    Item* chunk = chunks_[slot / chunk_size].load(std::memory_order_acquire);
    if (chunk == nullptr) [[unlikely]]
      chunk = grow(slot / chunk_size);
    return chunk[slot % chunk_size];
  }

private:
  Item* grow(std::size_t which) {
    const std::lock_guard lock(growth_);
    Item* chunk = chunks_[which].load(std::memory_order_relaxed);
    if (chunk == nullptr) {
      chunk = new Item[chunk_size];
      chunks_[which].store(chunk, std::memory_order_release);
    }
    return chunk;
  }

  std::array<std::atomic<Item*>, completion_table::slots_max / chunk_size> chunks_{};
  std::mutex growth_;
};

// An operation as it waits in the submission queue: its plan is looked up under progress ownership.
struct posted : operation {
  collectives::request key;
  std::unique_ptr<std::byte[]> room; // for a copy of a task, from one post to the next

  posted() = default;
  posted(progress::channel& team, const collectives::request& r, const graph::binding& of,
         const barrier_summary& given)
      : key(r) {
    channel = &team;
    at = of;
    value = given;
  }
  // The same of one that has been another operation before.
  void prepare(progress::channel& team, const collectives::request& r, const graph::binding& of,
               const barrier_summary& given = {}) {
    channel = &team;
    key = r;
    at = of;
    value = given;
    handle = 0;
    lent = light = asked = false;
    series_left = 0;
    series = nullptr;
    status = 0;
    unreachable = told_by = 0;
    bad.reset();
    if (thrown) [[unlikely]]
      thrown = nullptr;
    flights = 0;
    finished.store(false, std::memory_order_relaxed);
    seq = 0;
    program = nullptr;
    run = nullptr;
  }

  void keep(const graph::task& t) {
    if (t.bytes > most_task_bytes) throw std::length_error("a task is too large to be posted");
    if (!room) room = std::make_unique<std::byte[]>(most_task_bytes);
    std::memcpy(room.get(), static_cast<const void*>(&t), t.bytes);
    at.task = reinterpret_cast<const graph::task*>(room.get());
  }
  void release_task() {
    if (at.task == nullptr) return;
    if (at.task->aside != nullptr) [[unlikely]]
      end_of(*at.task->aside);
    if (at.task->release != nullptr) at.task->release(*at.task);
  }

private:
  void end_of(graph::stand_in& aside) {
    const graph::stand_in::outcome o = aside.end(aside, status >= 0 && !bad);
    if (o.gone != nullptr)
      bad.reset(new (std::nothrow) bad_operand{
          bad_operand::what::gone, 0, o.source, {reinterpret_cast<std::uintptr_t>(o.gone), 0, 0}, o.bytes});
  }
  static constexpr std::size_t most_task_bytes = 384;
};

using operation_pool = slot_pool<posted>;

// The states of executions, each lent to an operation while it is active. They are made when first needed,
// and kept; and so is room for as many in the list of the active, which is never too short then.
class execution_pool {
public:
  // With all that the plan needs; null for want of memory.
  [[gnu::always_inline]] execution* take(const operation& op, std::vector<operation*>& active) noexcept {
    const graph::plan& p = *op.program;
    execution* const run = all_.take();
    if (run == nullptr) [[unlikely]]
      return nullptr;
    const bool is_equipped = run->scratch.size() >= p.room() && !p.dynamic &&
                             (!p.computes || op.at.task->room <= run->room.size());
    if (active.size() == active.capacity() || !is_equipped) [[unlikely]]
      if (!equip(*run, op, active)) {
        all_.give_back(*run);
        return nullptr;
      }
    return run;
  }
  void give_back(execution& run) noexcept {
    run.scratch.done_with();
    run.room.done_with();
    all_.give_back(run);
  }

private:
  [[gnu::noinline]] bool equip(execution& run, const operation& op,
                               std::vector<operation*>& active) noexcept {
    const graph::plan& p = *op.program;
    try {
      active.reserve(all_.size());
      if (!run.scratch.reserve(p.room())) return false;
      if (p.computes && !run.room.reserve(op.at.task->room)) return false;
      if (!p.dynamic) return true;
      if (!run.found) run.found = std::make_unique<findings>();
      run.found->begin(p);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  engine::item_pool<execution> all_;
};

} // namespace weft::progress
