#pragma once
#include "engine/collectives/request.hpp"
#include "progress/execution/operation.hpp"
#include "progress/execution/slot_pool.hpp"

#include <cstring>
#include <memory>
#include <stdexcept>

namespace weft::progress {

// An operation as it waits in the submission queue: its plan is looked up under progress ownership.
struct posted : operation {
  collectives::request key;
  std::unique_ptr<std::byte[]> room; // for a copy of a task, from one post to the next

  void keep(const graph::task& t) {
    if (t.bytes > most_task_bytes) throw std::length_error("a task is too large to be posted");
    if (!room) room = std::make_unique<std::byte[]>(most_task_bytes);
    std::memcpy(room.get(), static_cast<const void*>(&t), t.bytes);
    at.task = reinterpret_cast<const graph::task*>(room.get());
  }
  void release_task() const {
    if (at.task != nullptr && at.task->release != nullptr) at.task->release(*at.task);
  }

private:
  static constexpr std::size_t most_task_bytes = 384;
};

using operation_pool = slot_pool<posted>;

} // namespace weft::progress
