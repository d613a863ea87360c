// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Blocks the signals that the launcher deals with and makes them readable instead; undone at the end.

#include <csignal>
#include <sys/types.h>
#include <vector>

namespace weft::boot {

class signal_gate {
public:
  struct received {
    int signal;
    pid_t sender;
  };

  signal_gate();
  ~signal_gate();
  signal_gate(const signal_gate&) = delete;
  signal_gate& operator=(const signal_gate&) = delete;

  // Readable while signals are waiting.
  int fd() const { return fd_; }
  // Signals of one number that came together are one; its sender is then the first of them. For SIGCHLD it is
  // the child.
  std::vector<received> take();

private:
  sigset_t old_mask_;
  int fd_;
};

} // namespace weft::boot
