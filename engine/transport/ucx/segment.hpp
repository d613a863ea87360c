// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/transport/ucx/handles.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::transport::ucx {

// Where UCX is to allocate the memory that ranks of a host share: as segments of System V, which the system
// removes with the processes, or as files in /dev/shm where the host's limits allow no such segments. All
// ranks of a host choose alike, else they do not reach each other.
enum class shared_memory { system_v, files };

// What one rank of a host has found, as it is published.
struct memory_offer {
  std::int32_t no_system_v = 0; // an errno: why the host gives not all segments that the rank needs
  std::int32_t files_fit = 1;   // /dev/shm and the memory have room for the files of all ranks
};

// Tries what a rank of `ranks` on this host needs, a large segment of `bytes` and the small ones of UCX, and
// holds the segments: only ranks that hold theirs at the same time know that the limits allow those of all.
// No page is taken, and a process that is killed leaves nothing. UCX left to itself would end worker after
// worker for want of a segment, and fill a file with zeros to see whether there is room: minutes, and all
// memory of the host.
class memory_trial {
public:
  memory_trial(std::size_t bytes, std::size_t ranks);
  ~memory_trial();
  memory_trial(const memory_trial&) = delete;
  memory_trial& operator=(const memory_trial&) = delete;

  const memory_offer& found() const { return found_; }

private:
  int hold(std::size_t bytes);

  memory_offer found_;
  std::vector<const void*> held_;
};

// What the ranks of a host use that have found these. Throws std::runtime_error, in one line with the way
// out, if there is no room of either kind.
shared_memory choose_memory(std::span<const memory_offer> of_host, std::size_t bytes);

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
