#pragma once
#include "engine/settings.hpp"
#include "engine/transport/ucx/room.hpp"
#include "pmix_boot/client/job.hpp"
#include "progress/driving/cores.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::api {

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

} // namespace weft::api
