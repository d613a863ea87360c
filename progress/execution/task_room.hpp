// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace weft::progress {

// Memory that a task has asked for, as it comes from the system: nobody writes it but the task. Kept from one
// execution to the next unless it is large.
class task_room {
public:
  std::byte* data() const noexcept { return memory_.get(); }
  std::uint64_t size() const noexcept { return bytes_; }

  // At least so many bytes; false for want of memory. What was there is lost.
  bool reserve(std::uint64_t bytes) noexcept {
    if (bytes <= bytes_) return true;
    memory_.reset();
    bytes_ = 0;
    const std::uint64_t rounded = (bytes + alignment - 1) / alignment * alignment;
    if (rounded < bytes) return false;
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)));
    if (!memory_) return false;
    bytes_ = rounded;
    if (large()) ::madvise(memory_.get(), rounded, MADV_HUGEPAGE); // if it can be: a page is touched but once
    return true;
  }
  void done_with() noexcept {
    if (!large()) return;
    memory_.reset();
    bytes_ = 0;
  }

private:
  static constexpr std::uint64_t alignment = 4096, most_kept = 8 << 20;
  bool large() const noexcept { return bytes_ > most_kept; }
  struct giving_back {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<std::byte, giving_back> memory_;
  std::uint64_t bytes_ = 0;
};

} // namespace weft::progress
