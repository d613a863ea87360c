#pragma once
#include "progress/execution/completion_table.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

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

} // namespace weft::progress
