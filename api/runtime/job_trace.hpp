// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine/settings.hpp"
#include "pmix_boot/client/job.hpp"
#include "progress/execution/recorder.hpp"

#include <functional>
#include <optional>
#include <string>

namespace weft::api {

// What WEFT_TRACE and WEFT_STATISTICS=1 have of all ranks together (with WEFT_CHECK=1 a rank records for
// reports of waits only): a file with the events of the job, on one clock, as chrome://tracing and Perfetto
// read it; and the calls that were waited for longest.
//
// The file has a part for each rank. All know how long the parts before theirs are, and write at the same
// time: the file must be on a file system that the hosts share, else each host's file has the parts of its
// ranks only.
class job_trace {
public:
  // Nothing is recorded unless a setting asks. Throws setting_error where the file cannot be written.
  job_trace(const boot::job& job, const engine::settings& s);

  progress::recorder* record() { return recorder_ ? &*recorder_ : nullptr; }

  // Before the end, while ranks can still meet: `barrier` is one of all. Ends the recording. The clock of
  // another host is compared by when its ranks leave the same barriers.
  void compare_clocks(const std::function<void()>& barrier);
  // When no rank calls the library any more, and all may still meet by the job.
  void finish(boot::job& job);

private:
  // `zero`: on this rank's clock.
  std::string part_of(const boot::job& job, std::int64_t zero) const;
  void write(boot::job& job);
  void print_sums(boot::job& job) const;

  const std::string path_;
  const bool prints_;
  std::optional<progress::recorder> recorder_;
  // On this rank's clock: now, before a fence that comes before the first event of any rank, and when it left
  // the barriers.
  const std::uint64_t begin_ = progress::recorder::now();
  std::vector<std::uint64_t> exits_;
};

} // namespace weft::api
