// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/settings.hpp"
#include "engine/transport/ucx/segment.hpp"
#include "pmix_boot/client/job.hpp"
#include "progress/driving/cores.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::api {

// What the start of a rank needs of its user's limits, measured with PMIx 4.2 and UCX 1.13, with all
// transports and what is opened for a moment only, and some more. A third of the files is open when the job
// has been joined.
struct start_needs {
  static constexpr std::size_t files = 34, files_of_ucx = 22;
  // Of PMIx two, of UCX one, and the library's own: for progress, deaths, reports and the end.
  static constexpr std::size_t threads = 7;
  // Of libraries and threads, beside the memory that ranks share.
  static constexpr std::size_t data = std::size_t{64} << 20;
};

// What a rank needs of its host and of the limits of its user, looked at before PMIx and UCX need it: for
// want of it they hang, crash, or print much that does not name it. What is short ends weft_init with one
// line.
class start_room {
public:
  // Before the job is joined: what each rank needs, however many there are.
  start_room();
  // Before its first fence, which tells the others what was found: what all ranks of this host need, with
  // segments of so many bytes.
  void look(boot::job& job, std::size_t segment_bytes);
  // Behind that fence.
  transport::ucx::shared_memory agree(const boot::job& job);

private:
  std::size_t segment_bytes_ = 0;
  std::optional<transport::ucx::memory_trial> trial_;
};

// What WEFT_LOG=info tells of the start of a job: how threads are reached, which thread drives and why, and
// what the start took. Rank 0 prints, for itself.
class start_log {
public:
  // The part of the start that has just ended.
  void ended(const char* part);
  void print(const std::vector<std::uint32_t>& nodes, progress::mode mode, const std::string& asked,
             double cores, std::uint32_t local_ranks) const;

private:
  using clock = std::chrono::steady_clock;
  clock::time_point last_ = clock::now();
  double total_ = 0; // milliseconds
  std::string parts_;
};

// WEFT_MALLOC=1: a part of the rank's segment in which libweft-malloc, if the process has it, places large
// allocations of the program. What the program has allocated there stays when the library ends.
class program_memory {
public:
  // Bytes of the segment for it.
  static std::uint64_t room(const engine::settings& s);
  // The memory has room() bytes, and none of them has been touched. `shared_for_good`: networks know its
  // pages, so none goes back to the system. Without libweft-malloc nothing happens, and a rank that `speaks`
  // says so.
  void begin(std::byte* memory, const engine::settings& s, bool shared_for_good, bool speaks);
  // Nothing more is placed there. False if the program still has some of it.
  bool end();
  // With WEFT_STATISTICS=1.
  void print(std::uint32_t rank) const;

private:
  std::byte* memory_ = nullptr;
};

} // namespace weft::api
