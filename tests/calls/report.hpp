// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/calls/watch.hpp"

#include <mutex>
#include <string>

// What this rank has to say: one line for the first thing that is wrong in a case, with all that replays it.
namespace calls {

struct patience {
  std::string pulses; // a file through which the ranks see each other's steps
  unsigned seconds = 60;
  bool hold = false; // keep a silent process for a debugger
};

class report {
public:
  report(std::uint64_t seed, std::uint32_t thread, std::uint32_t threads, std::string more,
         const patience& with);

  // From now on it is about this case.
  void begin(std::uint64_t index);
  void wrong(const std::string& what);
  bool spoken() const { return spoken_; }
  std::uint64_t failures() const { return failures_; }

  // If nothing happens from now on, it is this that hangs.
  void note(const std::string& doing);

private:
  std::string replay() const;

  const std::uint64_t seed_;
  const std::uint32_t thread_, threads_;
  const std::string more_; // options of a replay
  std::uint64_t index_ = 0;
  std::uint64_t failures_ = 0;
  bool spoken_ = false;
  std::mutex lock_; // of what the watch reads
  std::string doing_ = "the beginning";
  watch watch_;
};

} // namespace calls
