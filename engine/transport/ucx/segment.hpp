// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/transport/ucx/handles.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::transport::ucx {

// UCX makes System V segments (this one, and its own queues) accessible to the user's group; other users'
// jobs must not attach. Takes that right away from all that this process has mapped.
void keep_private();

// The memory of this rank that others reach: allocated by UCX (only such memory can be reached by loads and
// stores from another process), reserved at once and taken page by page when first touched, zero, and private
// to the user.
class segment {
public:
  segment(ucp_context_h context, std::size_t bytes);

  std::byte* base() const { return base_; }
  std::size_t bytes() const { return bytes_; }
  std::vector<std::byte> packed_key() const;
  int system_v_id() const; // -1: it is not one of System V

private:
  ucp_context_h context_;
  memory_ptr memory_;
  std::byte* base_ = nullptr;
  std::size_t bytes_;
};

// A System V segment in the memory map of this process.
struct mapped_segment {
  int id;
  std::uintptr_t base;
};
std::vector<mapped_segment> mapped_segments();

// Keeps a System V segment of this host in being: it ends with the last process that has it attached.
class held_segment {
public:
  explicit held_segment(int id) noexcept;
  ~held_segment();
  held_segment(const held_segment&) = delete;
  held_segment& operator=(const held_segment&) = delete;
  // Whether there was such a segment.
  explicit operator bool() const noexcept { return at_ != nullptr; }

private:
  const void* at_;
};

} // namespace weft::transport::ucx
