// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Starting one rank as a process, in a process group of its own, that cannot outlive the launcher.

#include <csignal>
#include <cstdint>
#include <string>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

namespace weft::boot {

// What the launcher changes for itself and a rank must find as the user left it.
struct inherited_state {
  sigset_t signal_mask;
  struct sigaction sigpipe;
  rlimit open_files;

  static inherited_state save();
  // In a child between fork and exec: async-signal-safe.
  void restore() const;
};

struct program {
  std::string path;
  std::vector<std::string> arguments;
};

struct standard_files {
  int input;
  int output;
  int error;
};

// The file that the shell would run for `name`, or nothing with errno set.
std::string find_program(const std::string& name);

// Returns the process, which has reached the program and is known to the guardian at the other side of
// `guarded_by`, or throws std::system_error with the reason why it did not.
pid_t start_rank(const program& program, const std::vector<std::string>& environment,
                 const standard_files& files, const inherited_state& inherited, int guarded_by);

} // namespace weft::boot
