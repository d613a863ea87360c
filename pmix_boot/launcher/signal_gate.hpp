// SPDX-License-Identifier: BSD-3-Clause
#pragma once
// Blocks the signals that the launcher deals with and makes them readable instead; undone at the end.
#include <cerrno>
#include <csignal>
#include <initializer_list>
#include <sys/signalfd.h>
#include <sys/types.h>
#include <system_error>
#include <unistd.h>
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

// As nohup leaves SIGHUP, and a shell SIGINT and SIGQUIT of what it runs in the background. A blocked signal
// would arrive all the same.
inline bool ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

inline signal_gate::signal_gate() {
  sigset_t handled;
  sigemptyset(&handled);
  for (int signal : {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT})
    if (signal == SIGCHLD || !ignored(signal)) sigaddset(&handled, signal);
  sigset_t blocked = handled;
  // A reader that went away is seen as an error of write().
  sigaddset(&blocked, SIGPIPE);
  sigprocmask(SIG_BLOCK, &blocked, &old_mask_);
  fd_ = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
}

inline signal_gate::~signal_gate() {
  // A broken pipe that waits here has been dealt with.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  const timespec at_once{};
  sigtimedwait(&pipe, nullptr, &at_once);
  close(fd_);
  sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
}

inline std::vector<signal_gate::received> signal_gate::take() {
  std::vector<received> signals;
  signalfd_siginfo info;
  while (read(fd_, &info, sizeof info) == sizeof info)
    signals.push_back({static_cast<int>(info.ssi_signo), static_cast<pid_t>(info.ssi_pid)});
  return signals;
}

} // namespace weft::boot
