// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// stdin of rank 0. A file or pipe is handed to it as it is. A terminal cannot be: the rank is in a process
// group of its own, and the kernel stops a group that reads from the terminal in the background; the launcher
// reads for it.

#include <poll.h>
#include <string>
#include <vector>

namespace weft::boot {

class terminal_input {
public:
  terminal_input();
  ~terminal_input();
  terminal_input(const terminal_input&) = delete;
  terminal_input& operator=(const terminal_input&) = delete;

  // What rank 0 gets as stdin.
  int rank_end() const { return rank_end_; }
  // Once rank 0 has it.
  void release_rank_end();

  // Appends what to wait for.
  void collect(std::vector<pollfd>& waits) const;
  // Passes on what was typed, without blocking.
  void move();

private:
  bool may_read() const;
  void close_pipe();

  int rank_end_;
  int pipe_ = -1;
  std::string typed_;
};

} // namespace weft::boot
