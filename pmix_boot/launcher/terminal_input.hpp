// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// stdin of rank 0. A file or pipe is handed to it as it is. A terminal cannot be: the rank is in a process
// group of its own, and the kernel stops a group that reads from the terminal in the background; the launcher
// reads for it.
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <string>
#include <system_error>
#include <unistd.h>
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

inline terminal_input::terminal_input() : rank_end_(STDIN_FILENO) {
  if (!isatty(STDIN_FILENO)) return;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category());
  rank_end_ = ends[0];
  pipe_ = ends[1];
  fcntl(pipe_, F_SETFL, O_NONBLOCK);
}

inline terminal_input::~terminal_input() {
  release_rank_end();
  close_pipe();
}

inline void terminal_input::release_rank_end() {
  if (rank_end_ > STDERR_FILENO) close(rank_end_);
  rank_end_ = -1;
}

inline void terminal_input::close_pipe() {
  if (pipe_ >= 0) close(pipe_);
  pipe_ = -1;
}

// Only while we are the terminal's foreground job, or the kernel would stop us.
inline bool terminal_input::may_read() const {
  return pipe_ >= 0 && typed_.empty() && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

inline void terminal_input::collect(std::vector<pollfd>& waits) const {
  if (may_read()) waits.push_back({STDIN_FILENO, POLLIN, 0});
  if (pipe_ >= 0) waits.push_back({pipe_, static_cast<short>(typed_.empty() ? 0 : POLLOUT), 0});
}

inline void terminal_input::move() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (may_read() && poll(&input, 1, 0) == 1) {
    char buffer[4096];
    const ssize_t size = read(STDIN_FILENO, buffer, sizeof buffer);
    if (size > 0)
      typed_.assign(buffer, static_cast<std::size_t>(size));
    else if (size == 0 || errno != EINTR)
      close_pipe();
  }
  if (pipe_ < 0 || typed_.empty()) {
    // The rank closed its stdin, or is gone.
    pollfd output{pipe_, 0, 0};
    if (pipe_ >= 0 && poll(&output, 1, 0) == 1) close_pipe();
    return;
  }
  const ssize_t written = write(pipe_, typed_.data(), typed_.size());
  if (written > 0)
    typed_.erase(0, static_cast<std::size_t>(written));
  else if (errno != EAGAIN && errno != EINTR)
    close_pipe();
}

} // namespace weft::boot
