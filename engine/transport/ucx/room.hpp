// SPDX-License-Identifier: BSD-3-Clause
#pragma once
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

} // namespace weft::transport::ucx
